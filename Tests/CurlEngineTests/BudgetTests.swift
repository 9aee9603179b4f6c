import RetryCore
import Testing

@testable import CurlEngine

/// C1: the budget for the retries of all calls of a client.
@Suite struct BudgetTests {
    @Test("at half of the budget calls end with the response that they have, and say why; successes fill it again")
    func spent() throws {
        var budget = RetryBudget(capacity: 4, ratio: 0.5)
        _ = budget.take()
        let failures = Array(repeating: Script.status(503, body: "down"), count: 3)
        let scene = try Scene(
            failures + [.status(200), .status(503), .status(200)], budget: SharedRetryBudget(budget))
        let first = try scene.perform()
        #expect(first.ending == .response && first.status == 503 && first.bodyText == "down")
        #expect(first.records.map { $0.decision?.reason } == [.serverError, .retryBudgetSpent])
        // The first attempt of another call is still sent.
        let second = try scene.perform()
        #expect(second.records.map { $0.decision?.reason } == [.retryBudgetSpent])
        #expect(try scene.perform().status == 200)
        #expect(try scene.perform().records.map { $0.decision?.reason } == [.serverError, .success])
    }

    @Test("exceptions take from it as well, and their cause is what a call then ends with") func exceptions() throws {
        let scene = try Scene([.exception(.connect)], budget: SharedRetryBudget(RetryBudget(capacity: 2)))
        let result = try scene.perform()
        #expect(result.ending == .exception(.connect))
        #expect(result.records.map { $0.decision?.reason } == [.networkException, .retryBudgetSpent])
    }

    @Test("B15: a 202 that is not retried for want of a budget goes to the sink") func accepted() throws {
        var budget = RetryBudget(capacity: 2)
        _ = budget.take()
        let recorder = Recorder()
        let scene = try Scene([.status(202, "Retry-After: 1", body: "later")], budget: SharedRetryBudget(budget))
        let result = try scene.perform(sink: recorder.make())
        #expect(result.status == 202 && recorder.log == ["write later", "close"] && result.bodyText.isEmpty)
        #expect(result.records.map { $0.decision?.reason } == [.retryBudgetSpent])
    }

    @Test("a custom strategy is bounded by it, too") func custom() throws {
        let scene = try Scene([.status(404)], budget: SharedRetryBudget(RetryBudget(capacity: 6)))
        let result = try scene.perform(strategy: Asked(Array(repeating: .retry(.custom), count: 4)))
        #expect(result.records.map { $0.decision?.reason } == [.custom, .custom, .custom, .retryBudgetSpent])
    }
}

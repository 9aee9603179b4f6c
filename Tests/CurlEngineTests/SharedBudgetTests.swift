import CurlEngine
import Dispatch
import RetryCore
import Testing

/// C1: the budget that clients and retry loops share.
@Suite struct SharedBudgetTests {
    @Test("what is taken, given back and refused is counted, and the level is the value type's") func counts() {
        let budget = SharedRetryBudget(RetryBudget(capacity: 4, ratio: 0.5))
        var value = RetryBudget(capacity: 4, ratio: 0.5)
        for step in 0..<20 {
            if step % 5 == 4 {
                budget.giveBack()
                value.giveBack()
            } else {
                #expect(budget.take() == value.take())
            }
            #expect(budget.stats.level == value.level)
        }
        let stats = budget.stats
        #expect(stats.givenBack == 4 && stats.taken + stats.refused == 16 && stats.taken == 4)
    }

    @Test("threads that take at once are allowed half of it, and not one more") func threads() {
        let budget = SharedRetryBudget(RetryBudget(capacity: 20_000))
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<5_000 { _ = budget.take() }
        }
        let stats = budget.stats
        #expect(stats.taken == 10_000 && stats.refused == 30_000 && stats.level == 10_000)
    }

    @Test("threads that take and give back lose nothing") func exchange() {
        let budget = SharedRetryBudget(RetryBudget(capacity: 1_000_000, ratio: 1))
        for _ in 0..<100_000 { _ = budget.take() }
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for _ in 0..<10_000 {
                if thread % 2 == 0 { _ = budget.take() } else { budget.giveBack() }
            }
        }
        #expect(budget.stats.level == 900_000)
    }
}

import RetryCore
import Testing

/// C1.
@Suite struct RetryBudgetTests {
    @Test("half of the capacity may be taken, and no more") func half() {
        var budget = RetryBudget(capacity: 10)
        #expect((1...6).map { _ in budget.take() } == [true, true, true, true, true, false])
        #expect(budget.level == 5)
    }

    @Test("each success gives back a part, up to the capacity") func giveBack() {
        var budget = RetryBudget(capacity: 4, ratio: 0.5)
        budget.giveBack()
        #expect(budget.level == 4)
        while budget.take() {}
        #expect(budget.level == 2)
        budget.giveBack()
        #expect(budget.level == 2.5 && budget.take() && !budget.take())
        #expect(budget.level == 1.5)
        for _ in 0..<100 { budget.giveBack() }
        #expect(budget.level == 4)
    }

    @Test("the smallest budget has one retry, and is never below nothing") func smallest() {
        var budget = RetryBudget(capacity: 1, ratio: 1)
        #expect(budget.take() && !budget.take() && budget.level == 0)
        budget.giveBack()
        #expect(budget.level == 1)
    }
}

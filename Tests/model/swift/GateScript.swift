import RetryCore

/// The gate of one origin, for the commands of model_gate.py. Attempts are numbered from 1 as they begin.
struct GateScript {
    private var gate: OriginGate?
    private var passes: [OriginGate.Pass] = [.withoutGate]
    private var now = Instant(nanoseconds: 0)

    mutating func run(_ command: Command) -> String? {
        switch command.name {
        case "time":
            now = Instant(nanoseconds: command.integer(at: 0))
            if let action = gate?.timeHasCome(now: now) { act(on: action) }
        case "fill": return "begun \(fill(command.integer(at: 0)))"
        case "gone":
            if let action = gate?.gaveUp(passes[command.integer(at: 0)]) { act(on: action) }
        case "answer": answered(passes[command.integer(at: 0)], answer(command.text(at: 1)))
        default: fail("unknown command", command.name)
        }
        return nil
    }

    private func answer(_ text: String) -> OriginGate.Answer {
        switch text {
        case "other": .other
        case "overloaded": .overloaded
        default: .comeBack(after: (number(text) as Double) / 1e9)
        }
    }

    private mutating func fill(_ count: Int) -> Int {
        for begun in 0..<count {
            guard let places = gate?.places else {
                passes.append(.withoutGate)
                continue
            }
            guard case .go(let pass)? = gate?.asked() else {
                precondition(places == 0)
                return begun
            }
            precondition(places > 0)
            passes.append(pass)
        }
        return count
    }

    private mutating func answered(_ pass: OriginGate.Pass, _ answer: OriginGate.Answer) {
        if let action = gate?.answered(answer, pass, now: now) { return act(on: action) }
        guard let moment = OriginGate.moment(of: answer, now: now) else { return }
        gate = OriginGate(closedUntil: moment, unlimited: 512)
    }

    private mutating func act(on action: OriginGate.Action) {
        guard action == .opened else { return }
        gate = nil
        passes = passes.map { _ in .withoutGate }
    }
}

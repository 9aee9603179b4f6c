/// The waiters for a token, in order of arrival. Each has a ticket with which it can leave.
struct WaiterQueue<Waiter> {
    private var places: [(ticket: UInt64, waiter: Waiter?)] = []
    private(set) var count = 0

    /// Tickets increase from one waiter to the next, across all lines.
    mutating func append(_ waiter: Waiter, ticket: UInt64) {
        places.append((ticket, waiter))
        count += 1
    }

    /// False if there is no waiter with that ticket.
    mutating func remove(ticket: UInt64) -> Bool {
        var low = 0
        var high = places.count
        while low < high {
            let middle = (low + high) / 2
            if places[middle].ticket < ticket { low = middle + 1 } else { high = middle }
        }
        guard low < places.count, places[low].ticket == ticket, places[low].waiter != nil else { return false }
        places[low].waiter = nil
        count -= 1
        // The slots of waiters that left are kept until they are the majority: moving the others each time would be too
        // slow.
        if places.count > 32, count < places.count / 2 { places.removeAll { $0.waiter == nil } }
        return true
    }

    mutating func takeAll() -> [Waiter] {
        defer { self = WaiterQueue() }
        return places.compactMap { $0.waiter }
    }

    /// Appends all waiters of another queue, who came later.
    mutating func append(contentsOf queue: inout WaiterQueue) {
        places.append(contentsOf: queue.places)
        count += queue.count
        queue = WaiterQueue()
    }
}

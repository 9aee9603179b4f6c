import CShims
import RetryCore

/// Header lines of our own, which can be changed. All has been checked before (`RequestChecks`).
public final class OwnedHeaders {
    /// name, value, name, value, …; each a copy.
    private var pairs: UnsafeMutablePointer<UnsafePointer<CChar>?>?
    private var count = 0
    private var capacity = 0

    public init() {}

    /// Nil if out of memory.
    public static func copy(of list: HeaderList) -> OwnedHeaders? {
        let headers = OwnedHeaders()
        var isComplete = true
        list.forEach { name, value in isComplete = isComplete && headers.append(name, value) }
        return isComplete ? headers : nil
    }

    deinit {
        for index in 0..<2 * count { shim_free(UnsafeMutableRawPointer(mutating: pairs?[index])) }
        shim_free(pairs)
    }

    public var list: HeaderList { HeaderList(whole: pairs, count: count) }

    /// False if out of memory, or if there are too many lines.
    public func append(_ name: UnsafePointer<CChar>, _ value: UnsafePointer<CChar>) -> Bool {
        guard count < HeaderList.maximumCount, hasRoom(), let pairs, let nameCopy = shim_copy_string(name) else {
            return false
        }
        guard let valueCopy = shim_copy_string(value) else {
            shim_free(nameCopy)
            return false
        }
        pairs[2 * count] = UnsafePointer(nameCopy)
        pairs[2 * count + 1] = UnsafePointer(valueCopy)
        count += 1
        return true
    }

    /// Puts one line in place of all that have its name.
    public func set(_ name: UnsafePointer<CChar>, _ value: UnsafePointer<CChar>) -> Bool {
        remove { RequestChecks.isSameHeader($0, name) }
        return append(name, value)
    }

    public func remove(where isUnwanted: (UnsafePointer<CChar>) -> Bool) {
        guard let pairs else { return }
        var kept = 0
        for index in 0..<count {
            if let name = pairs[2 * index], isUnwanted(name) {
                shim_free(UnsafeMutableRawPointer(mutating: name))
                shim_free(UnsafeMutableRawPointer(mutating: pairs[2 * index + 1]))
            } else {
                pairs[2 * kept] = pairs[2 * index]
                pairs[2 * kept + 1] = pairs[2 * index + 1]
                kept += 1
            }
        }
        count = kept
    }

    private func hasRoom() -> Bool {
        guard count == capacity else { return true }
        let larger = max(8, 2 * capacity)
        guard let memory = shim_allocate(2 * larger * MemoryLayout<UnsafePointer<CChar>?>.stride) else { return false }
        let grown = memory.bindMemory(to: UnsafePointer<CChar>?.self, capacity: 2 * larger)
        for index in 0..<2 * count { grown[index] = pairs?[index] }
        shim_free(pairs)
        pairs = grown
        capacity = larger
        return true
    }

    /// Header lines as libcurl's list, with what keeps libcurl from adding its own headers; to be freed with
    /// `shim_header_free_lines`. Nil if out of memory.
    static func lines(
        _ list: HeaderList, hasBody: Bool, addsDefaults: Bool
    ) -> UnsafeMutablePointer<shim_lines>? {
        if list.count == 0, !hasBody, addsDefaults { return shim_header_no_lines() }
        // No second is lost on a 100 that does not come (F57).
        var lines = shim_lines_append(nil, "Expect:")
        var isComplete = lines != nil
        var hasContentType = false
        list.forEach { name, value in
            isComplete = isComplete && add(name, value, to: &lines)
            if RequestChecks.isContentType(name) { hasContentType = true }
        }
        if !addsDefaults {
            for name: StaticString in ["Accept", "User-Agent"] where list.firstValue(of: name.cString) == nil {
                isComplete = isComplete && addAbsence(of: name, to: lines)
            }
        }
        if hasBody, !hasContentType { isComplete = isComplete && shim_lines_append(lines, "Content-Type:") != nil }
        guard isComplete else {
            shim_lines_free(lines)
            return nil
        }
        return lines
    }

    /// `Name:`, for which libcurl adds no such header.
    private static func addAbsence(
        of name: StaticString, to lines: UnsafeMutablePointer<shim_lines>?
    ) -> Bool {
        var line = shim_buffer()
        defer { shim_buffer_free(&line) }
        return shim_buffer_append(&line, name.cString, name.utf8CodeUnitCount)
            && shim_buffer_append(&line, StaticString(":").cString, 1) && shim_lines_append(lines, line.data) != nil
    }

    /// `Name: value`; `Name;` is libcurl's way to write an empty value.
    static func add(
        _ name: UnsafePointer<CChar>, _ value: UnsafePointer<CChar>,
        to lines: inout UnsafeMutablePointer<shim_lines>?
    ) -> Bool {
        var line = shim_buffer()
        defer { shim_buffer_free(&line) }
        let isEmpty = value.pointee == 0
        guard shim_buffer_append(&line, name, shim_length(name)),
            // Not a String, whose conversion to C adds 8 KB to the library.
            shim_buffer_append(&line, (isEmpty ? ";" : ": " as StaticString).cString, isEmpty ? 1 : 2),
            shim_buffer_append(&line, value, shim_length(value)),
            let longer = shim_lines_append(lines, line.data)
        else { return false }
        lines = longer
        return true
    }
}

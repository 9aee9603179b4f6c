import RetryCore

/// Reads a document as a token endpoint's answer, with all that is in it: see json.c. Whether it is an object.
@_cdecl("fuzz_json")
public func read(_ data: UnsafeRawPointer?, _ size: Int, _ text: UnsafeMutablePointer<UInt8>) -> Bool {
    let bytes = UnsafeRawBufferPointer(start: data, count: size)
    _ = TokenEndpointAnswer(status: 200, body: bytes)
    _ = TokenEndpointAnswer(status: 400, body: bytes)
    guard let object = JSONObject(bytes) else { return false }
    var count = 0
    for name: StaticString in ["a", "code", "token", "access_token", "expires_in", "error"] {
        guard case .string(let string) = object.member(name) else { continue }
        // Decoding makes no text longer: room for the document is room for each text in it.
        count = 0
        string.forEachByte { byte in
            text[count] = byte
            count += 1
        }
        if string.count != count { fatalError("two readings of a text differ") }
    }
    return true
}

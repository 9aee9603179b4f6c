import RetryCore
import Testing

/// W4: what the lines of a head say about where the body ends (RFC 9112, 6.3).
@Suite struct ResponseFramingTests {
    @Test(
        "F86: one length, however often it is repeated",
        arguments: [
            ["Content-Length: 4"], ["content-length:4"], ["CONTENT-LENGTH: \t4 \t"], ["Content-Length: 4, 4"],
            ["Content-Length: 4", "Content-Length: 4"], ["Content-Length: 004"], ["X: 5", "Content-Length: 4", "Y: 6"],
        ])
    func length(lines: [String]) {
        let framing = read(lines)
        #expect(framing.length == 4)
        #expect(!framing.isMalformed)
    }

    @Test("no length") func nothing() {
        for lines in [[], ["Content-Type: a"], ["Content-Lengths: 4"], ["X-Content-Length: 4"], [" Content-Length: 4"]]
        {
            let framing = read(lines)
            #expect(framing.length == nil && !framing.isMalformed, "\(lines)")
        }
    }

    @Test("the largest length is 2^63 - 1") func largest() {
        #expect(read(["Content-Length: 9223372036854775807"]).length == .max)
        #expect(read(["Content-Length: 9223372036854775808"]).isMalformed)
    }

    @Test(
        "F86: lengths that contradict each other or are not digits",
        arguments: [
            ["Content-Length: 4", "Content-Length: 5"], ["Content-Length: 4, 5"], ["Content-Length: 4, 4, 5"],
            ["Content-Length: 4abc"], ["Content-Length: abc"], ["Content-Length:"], ["Content-Length: ,"],
            ["Content-Length: 4,"], ["Content-Length: -1"], ["Content-Length: +1"], ["Content-Length: 1 1"],
            ["Content-Length: 1.0"], ["Content-Length: 1e1"], ["Content-Length: 0x1"],
            ["Content-Length: \u{0663}"], ["Content-Length: 4", " 5"], ["Content-Length: 4", "\t, 4"],
        ])
    func malformed(lines: [String]) {
        #expect(read(lines).isMalformed)
    }

    @Test(
        "F86: chunks override any length",
        arguments: [
            ["Transfer-Encoding: chunked"], ["transfer-encoding:Chunked"],
            ["Transfer-Encoding: chunked", "Content-Length: 4"], ["Content-Length: x", "Transfer-Encoding: chunked"],
            ["Transfer-Encoding: identity, chunked"],
        ])
    func chunked(lines: [String]) {
        let framing = read(lines)
        #expect(framing.length == nil)
        #expect(!framing.isMalformed)
    }

    @Test(
        "F86: a transfer coding that was not requested, or chunked twice",
        arguments: [
            ["Transfer-Encoding: gzip"], ["Transfer-Encoding: gzip, chunked"], ["Transfer-Encoding: chunked, gzip"],
            ["Transfer-Encoding: chunked, chunked"], ["Transfer-Encoding: chunked", "Transfer-Encoding: chunked"],
            ["Transfer-Encoding: xchunked"], ["Transfer-Encoding: chunked;a=b"], ["Transfer-Encoding: chunked", " x"],
            ["Transfer-Encoding:"], ["Transfer-Encoding: chunked, identity"],
        ])
    func transferCodings(lines: [String]) {
        #expect(read(lines).isMalformed)
    }

    @Test(
        "W4: a blank before the colon of a field that frames the body",
        arguments: [["Content-Length : 4"], ["Transfer-Encoding\t: chunked"], ["content-encoding : gzip"]])
    func blankBeforeTheColon(lines: [String]) {
        #expect(read(lines).isMalformed)
    }

    @Test("the value of Content-Encoding is handed on") func contentEncoding() {
        var framing = ResponseFraming()
        let lines: [String] = ["Content-Encoding: gzip, br \r\n", "content-encoding:\r\n", "Content-Type: a\r\n"]
        let values = lines.map { line in
            framing.take(line, line.utf8.count).map { String(decoding: $0.bytes, as: UTF8.self) }
        }
        #expect(values == ["gzip, br", "", nil])
    }

    private func read(_ lines: [String]) -> ResponseFraming {
        var framing = ResponseFraming()
        for line in lines { _ = framing.take(line + "\r\n", line.utf8.count + 2) }
        return framing
    }
}

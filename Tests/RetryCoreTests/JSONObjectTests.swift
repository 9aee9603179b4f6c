import Testing

@testable import RetryCore

@Suite struct JSONObjectTests {
    private func read<Result>(_ text: String, _ body: (JSONObject?) -> Result) -> Result {
        Array(text.utf8).withUnsafeBytes { body(JSONObject($0)) }
    }

    private func isObject(_ text: String) -> Bool { read(text) { $0 != nil } }

    /// A member as Swift shows it.
    private func member(_ name: StaticString, of text: String) -> String? {
        read(text) { object in
            switch object?.member(name) {
            case .string(let string):
                var bytes: [UInt8] = []
                string.forEachByte { bytes.append($0) }
                #expect(string.count == bytes.count)
                return "string " + String(decoding: bytes, as: UTF8.self)
            case .number(let number): return "number \(number)"
            case .other: return "other"
            case .repeated: return "repeated"
            case nil: return nil
            }
        }
    }

    @Test("T12: top-level strings and numbers are read, all else is passed over") func members() {
        let text = #" {"a" : "x", "n":-12.5e1 ,"l":[1,{"a":"y"}],"o":{"a":"z"},"t":true,"z":null} "#
        #expect(member("a", of: text) == "string x")
        #expect(member("n", of: text) == "number -125.0")
        #expect(member("l", of: text) == "other" && member("o", of: text) == "other")
        #expect(member("t", of: text) == "other" && member("z", of: text) == "other")
        #expect(member("y", of: text) == nil)
        #expect(member("a", of: "{}") == nil)
    }

    @Test("F109: a name that occurs twice has no value, also if it is written with escapes") func twice() {
        for text in [
            #"{"ab":1,"ab":1}"#, #"{"ab":1,"\u0061b":"x"}"#, #"{"\u0061\u0062":"x","ab":"x","c":1}"#,
            #"{"ab":null,"ab":1}"#, #"{"ab":1,"ab":2,"ab":3}"#,
        ] {
            #expect(member("ab", of: text) == "repeated", "\(text)")
        }
        #expect(member("a", of: #"{"a":1,"b":{"a":2},"c":[{"a":3}]}"#) == "number 1.0")
        #expect(member("ab", of: #"{"ab":1,"abc":2,"a":3}"#) == "number 1.0")
    }

    @Test("escapes stand for what they say") func escapes() {
        let text = #"{"a":"\"\\\/\b\f\n\r\t\u0041\u00e9\u20AC\ud83d\ude00é€😀"}"#
        #expect(member("a", of: text) == "string \"\\/\u{8}\u{C}\n\r\tAé€😀é€😀")
    }

    @Test("T12: a document that is not well-formed is not an object, wherever the fault is") func malformed() {
        let faults = [
            "", " ", "{", "}", "[]", "1", "\"a\"", "null", "{}}", "{} x", "{,}", #"{"a"}"#, #"{"a":}"#, #"{"a":1,}"#,
            #"{"a":1 "b":2}"#, #"{a:1}"#, #"{'a':1}"#, #"{"a":01}"#, #"{"a":1.}"#, #"{"a":.5}"#, #"{"a":+1}"#,
            #"{"a":1e}"#, #"{"a":-}"#, #"{"a":NaN}"#, #"{"a":Infinity}"#, #"{"a":tru}"#, #"{"a":truex}"#, #"{"a":"x}"#,
            #"{"a":"\x"}"#, #"{"a":"\u12G4"}"#, #"{"a":"\u12"}"#, #"{"a":"\ud800"}"#, #"{"a":"\udc00"}"#,
            #"{"a":"\ud800\u0041"}"#, #"{"a":"\ud800x"}"#, "{\"a\":\"\n\"}", "{\"a\":\"\u{1}\"}", #"{"a":[1,]}"#,
            #"{"a":[1 2]}"#, #"{"a":[}"#, #"{"a":{]}"#, #"{"a":{"b":1]}"#, #"{"a":[{"b":1}}"#, #"{"a":{"b"}}"#,
            #"{"a":{1:2}}"#, #"{"a":1}{"#, "\u{FEFF}{}", "{\"a\":\"x\"\u{0}}",
        ]
        for text in faults { #expect(!isObject(text), "\(text)") }
    }

    @Test("strings are UTF-8, strictly") func encoding() {
        func isObject(_ bytes: [UInt8]) -> Bool {
            (Array(#"{"a":""#.utf8) + bytes + Array(#""}"#.utf8)).withUnsafeBytes { JSONObject($0) != nil }
        }
        for bytes: [UInt8] in [
            [0xC2, 0x80], [0xDF, 0xBF], [0xE0, 0xA0, 0x80], [0xED, 0x9F, 0xBF], [0xEE, 0x80, 0x80],
            [0xF0, 0x90, 0x80, 0x80], [0xF4, 0x8F, 0xBF, 0xBF], [0x7F],
        ] {
            #expect(isObject(bytes), "\(bytes)")
        }
        for bytes: [UInt8] in [
            [0x80], [0xC0, 0x80], [0xC1, 0xBF], [0xC2], [0xE0, 0x9F, 0xBF], [0xED, 0xA0, 0x80],
            [0xF0, 0x8F, 0xBF, 0xBF],
            [0xF4, 0x90, 0x80, 0x80], [0xF5, 0x80, 0x80, 0x80], [0xFF], [0xE2, 0x82],
        ] {
            #expect(!isObject(bytes), "\(bytes)")
        }
    }

    @Test("F73: 100,000 nested brackets are refused; 64 levels are not") func depth() {
        func nested(_ depth: Int) -> String {
            #"{"a":"# + String(repeating: "[", count: depth) + String(repeating: "]", count: depth) + "}"
        }
        #expect(isObject(nested(64)))
        #expect(!isObject(nested(65)))
        #expect(!isObject(#"{"a":"# + String(repeating: "[", count: 30_000)))
        #expect(!isObject(#"{"a":"# + String(repeating: "[", count: 100_000)))
        let objects = String(repeating: #"{"b":"#, count: 64) + "1" + String(repeating: "}", count: 64)
        #expect(isObject(#"{"a":"# + objects + "}"))
    }

    @Test("a document of more than 64 KiB is refused") func size() {
        let start = #"{"a":""#
        #expect(isObject(start + String(repeating: "x", count: 65_536 - start.utf8.count - 2) + "\"}"))
        #expect(!isObject(start + String(repeating: "x", count: 65_536 - start.utf8.count - 1) + "\"}"))
    }
}

@Suite struct FormEncodingTests {
    @Test("F74: everything but letters, digits and -._~ is percent-encoded") func encoding() {
        func encoded(_ text: String) -> String {
            var bytes: [UInt8] = []
            Array(text.utf8).withUnsafeBytes { FormEncoding.encode($0) { bytes.append($0) } }
            return String(decoding: bytes, as: UTF8.self)
        }
        #expect(encoded("a+b%c&d=e é") == "a%2Bb%25c%26d%3De%20%C3%A9")
        #expect(encoded("AZaz09-._~") == "AZaz09-._~")
        #expect(encoded("\u{0}\u{FF}/*:") == "%00%C3%BF%2F%2A%3A")
    }
}

@Suite struct TokenEndpointAnswerTests {
    /// The meaning of an answer, as text.
    private func answer(_ status: Int32, _ body: String) -> String {
        Array(body.utf8).withUnsafeBytes { bytes in
            switch TokenEndpointAnswer(status: status, body: bytes) {
            case .token(let token, let life, let refreshToken):
                return [shown(token), life.map { "\($0)" } ?? "none", shown(refreshToken)].joined(separator: " ")
            case .failure(.failed(let text), let isRetryable):
                return self.text(text) + (isRetryable ? ", retryable and hidden" : "")
            case .failure(.unavailable(let text), let isRetryable):
                return self.text(text) + (isRetryable ? ", retryable" : ", not retryable")
            case .failure: return "another failure"
            }
        }
    }

    private func text(_ text: ProviderText) -> String {
        text.withCString { $0.map { String(cString: $0) } ?? "" }
    }

    private func shown(_ string: JSONString?) -> String {
        guard let string else { return "none" }
        var bytes: [UInt8] = []
        string.forEachByte { bytes.append($0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test("T12: OAuth's names, and those of a relay; a life that is a number, or a string that is one (F73)")
    func tokens() {
        #expect(answer(200, #"{"access_token":"a","expires_in":3600,"token_type":"bearer"}"#) == "a 3600.0 none")
        #expect(answer(200, #"{"token":"a","expiresIn":3600.5}"#) == "a 3600.5 none")
        #expect(answer(201, #"{"access_token":"a","expires_in":"3600","refresh_token":"r"}"#) == "a 3600.0 r")
        #expect(answer(200, #"{"access_token":"a","token":"b","expires_in":" 60.5 "}"#) == "a 60.5 none")
        #expect(answer(200, #"{"access_token":"a","expires_in":3600.0}"#) == "a 3600.0 none")
    }

    @Test("F109, T12: an answer that says something twice is a failure") func repeated() {
        for member in [
            #""access_token":"a""#, #""access\u005ftoken":"a""#, #""expires_in":3600"#, #""refresh_token":"r""#,
        ] {
            let body = #"{"access_token":"a","expires_in":60,"refresh_token":"q",\#(member)}"#
            #expect(answer(200, body) == "the answer has a name twice", "\(body)")
        }
        #expect(answer(200, #"{"token":"a","token":"b","expires_in":60}"#) == "the answer has a name twice")
        #expect(answer(200, #"{"token":"a","expiresIn":60,"expiresIn":60}"#) == "the answer has a name twice")
        #expect(answer(200, #"{"token":"a","expiresIn":60,"scope":"x","scope":"y"}"#) == "a 60.0 none")
        #expect(answer(400, #"{"error":"a","error":"b"}"#) == "status 400")
    }

    @Test("T12, F73: what is missing or no number is for T6 to judge") func missing() {
        #expect(answer(200, #"{"access_token":"a"}"#) == "a none none")
        #expect(answer(200, #"{"access_token":"a","expires_in":"abc"}"#) == "a nan none")
        #expect(
            answer(200, #"{"access_token":"a","expires_in":"\#(String(repeating: "1", count: 33))"}"#) == "a nan none")
        #expect(answer(200, #"{"access_token":"a","expires_in":true}"#) == "a nan none")
        #expect(answer(200, #"{"access_token":"a","expires_in":-1}"#) == "a -1.0 none")
        #expect(answer(200, #"{"access_token":5,"expires_in":60}"#) == "none 60.0 none")
    }

    @Test("T12: 408, 429 and 500 or above are retryable, and nothing else is") func statuses() {
        for status: Int32 in [408, 429, 500, 502, 503, 599] {
            #expect(answer(status, "") == "status \(status), retryable")
        }
        for status: Int32 in [199, 301, 307, 400, 401, 403, 404, 407, 428, 430, 499] {
            #expect(answer(status, "") == "status \(status)")
        }
    }

    @Test("T12: of an error only its code is reported") func errors() {
        let body = #"{"error":"invalid_grant","error_description":"secret","access_token":"a","expires_in":3600}"#
        #expect(answer(400, body) == "status 400: invalid_grant")
        #expect(answer(200, body) == "status 200: invalid_grant", "F73")
        #expect(answer(400, #"{"error":"a b"}"#) == "status 400")
        #expect(answer(400, #"{"error":"\#(String(repeating: "x", count: 65))"}"#) == "status 400")
        #expect(answer(503, #"{"error":{}}"#) == "status 503, retryable")
        #expect(answer(503, #"{"error":"temporarily_unavailable"}"#) == "status 503, retryable", "T6")
        #expect(answer(200, "<html>") == "the answer is not a JSON object")
    }
}

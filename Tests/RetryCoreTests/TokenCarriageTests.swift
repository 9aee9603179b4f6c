import RetryCore
import Testing

/// T13: which sendings carry the access token, for every combination of what it depends on.
@Suite struct TokenCarriageTests {
    private static var all: [TokenCarriage.Context] {
        (0..<128).map { bits in
            func isSet(_ bit: Int) -> Bool { bits >> bit & 1 == 1 }
            return TokenCarriage.Context(
                hasTLS: isSet(0), isLocal: isSet(1), hasProxy: isSet(2), allowsInsecure: isSet(3),
                isOwnOrigin: isSet(4), hasAuthorization: isSet(5), isDeclined: isSet(6))
        }
    }

    @Test("T13: a redirect to another origin never carries it") func otherOrigin() {
        let elsewhere = Self.all.filter { !$0.isOwnOrigin }
        #expect(elsewhere.count == 64)
        for context in elsewhere { #expect(TokenCarriage(context) == .noToken, "\(context)") }
    }

    @Test("T13: the caller's own Authorization, and its wish for none, win") func own() {
        let own = Self.all.filter { $0.hasAuthorization || $0.isDeclined }
        #expect(own.count == 96)
        for context in own { #expect(TokenCarriage(context) == .noToken, "\(context)") }
    }

    @Test("T13: else it goes by https, and by http only to this machine, unless the client allows more") func rest() {
        let rest = Self.all.filter { $0.isOwnOrigin && !$0.hasAuthorization && !$0.isDeclined }
        let expected: [(tls: Bool, local: Bool, proxy: Bool, insecure: Bool, carriage: TokenCarriage)] = [
            (false, false, false, false, .refused), (false, false, false, true, .token(isDirect: false)),
            (false, false, true, false, .refused), (false, false, true, true, .token(isDirect: false)),
            (false, true, false, false, .token(isDirect: true)), (false, true, false, true, .token(isDirect: false)),
            (false, true, true, false, .refused), (false, true, true, true, .token(isDirect: false)),
            (true, false, false, false, .token(isDirect: false)), (true, false, false, true, .token(isDirect: false)),
            (true, false, true, false, .token(isDirect: false)), (true, false, true, true, .token(isDirect: false)),
            (true, true, false, false, .token(isDirect: false)), (true, true, false, true, .token(isDirect: false)),
            (true, true, true, false, .token(isDirect: false)), (true, true, true, true, .token(isDirect: false)),
        ]
        #expect(rest.count == expected.count)
        for context in rest {
            let row = expected.first {
                $0.tls == context.hasTLS && $0.local == context.isLocal && $0.proxy == context.hasProxy
                    && $0.insecure == context.allowsInsecure
            }
            #expect(TokenCarriage(context) == row?.carriage, "\(context)")
        }
    }
}

import BoxRetry
import CBoxRetry
import RetryCore
import Testing

/// The core numbers its enums as the header does. The names tie the two together.
@Suite struct NamesTests {
    @Test("each reason, cause, action and delay source of the core is the header's constant of that name") func enums()
    {
        for reason in Reason.allCases { expectSame(reason, boxretry_reason_name(reason.rawValue)) }
        for cause in NetworkExceptionCause.allCases { expectSame(cause, boxretry_cause_name(cause.rawValue)) }
        for action in RetryAction.allCases { expectSame(action, boxretry_action_name(action.rawValue)) }
        for source in DelaySource.allCases { expectSame(source, boxretry_delay_source_name(source.rawValue)) }
    }

    @Test("the header has no more of them than the core") func counts() {
        #expect(boxretry_reason_name(Int32(Reason.allCases.count)).text == "unknown")
        #expect(boxretry_cause_name(Int32(NetworkExceptionCause.allCases.count)).text == "unknown")
        #expect(boxretry_action_name(Int32(RetryAction.allCases.count)).text == "unknown")
        #expect(boxretry_delay_source_name(Int32(DelaySource.allCases.count)).text == "unknown")
    }

    @Test("a number without a meaning has the name unknown", arguments: [-1, 1_000, Int32.max, Int32.min])
    func unknown(number: Int32) {
        #expect(boxretry_error_name(number).text == "unknown")
        #expect(boxretry_reason_name(number).text == "unknown")
        #expect(!boxretry_error_text(number).text.isEmpty)
        #expect(!boxretry_reason_text(number).text.isEmpty)
    }

    private func expectSame<Value>(_ value: Value, _ name: UnsafePointer<CChar>) {
        let snakeCase = String(describing: value).reduce(into: "") { text, letter in
            text += letter.isUppercase ? "_\(letter.lowercased())" : String(letter)
        }
        #expect(snakeCase == name.text)
    }
}

extension UnsafePointer<CChar> {
    var text: String { String(cString: self) }
}

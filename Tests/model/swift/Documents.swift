import Foundation
import RetryCore

/// `json DOCUMENT`: the members of these names, as the JSON reader sees them; `none` if it is not an object.
func readDocument(_ command: Command) -> String {
    bytes(of: command).withUnsafeBytes { bytes in
        guard let object = JSONObject(bytes) else { return "none" }
        let names: [StaticString] = ["a", "b", "code", "token", "expires_in", "é", ""]
        let members = names.compactMap { name -> String? in
            switch object.member(name) {
            case .string(let string):
                var hexadecimal = ""
                string.forEachByte { hexadecimal += String(format: "%02x", $0) }
                return "\(name)=string:\(hexadecimal)"
            case .number(let number): return "\(name)=number:\(shown(number))"
            case .other: return "\(name)=other"
            case .repeated: return "\(name)=repeated"
            case nil: return nil
            }
        }
        return (["object"] + members).joined(separator: " ")
    }
}

/// `form TEXT`: the text as a form has it.
func encodeForForm(_ command: Command) -> String {
    bytes(of: command).withUnsafeBytes { bytes in
        var encoded = "encoded "
        FormEncoding.encode(bytes) { encoded.unicodeScalars.append(Unicode.Scalar($0)) }
        return encoded
    }
}

private func bytes(of command: Command) -> [CChar] { decoded(command.text(at: 0)).dropLast() }

import CShims
import RetryCore

/// The fields of a form, secrets among them, in their order.
public struct SecretForm {
    private var fields: [(name: SecretBytes, value: SecretBytes)] = []

    public init() {}

    /// False if out of memory.
    public mutating func append(_ name: UnsafePointer<CChar>, _ value: UnsafePointer<CChar>) -> Bool {
        guard let name = SecretBytes.copy(of: name), let value = SecretBytes.copy(of: value) else { return false }
        fields.append((name, value))
        return true
    }

    public mutating func append(_ name: StaticString, _ value: SecretBytes) -> Bool {
        let bytes = UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        guard let name = SecretBytes.copy(of: bytes) else { return false }
        fields.append((name, value))
        return true
    }

    /// As it is sent; nil if out of memory.
    public func encoded() -> SecretBytes? {
        var count = 0
        forEachByte { _ in count += 1 }
        return SecretBytes.make(count: count) { target in
            var index = 0
            forEachByte { byte in
                target[index] = byte
                index += 1
            }
        }
    }

    private func forEachByte(_ body: (UInt8) -> Void) {
        for (index, field) in fields.enumerated() {
            if index > 0 { body(UInt8(ascii: "&")) }
            FormEncoding.encode(field.name.bytes, body)
            body(UInt8(ascii: "="))
            FormEncoding.encode(field.value.bytes, body)
        }
    }
}

extension SecretBytes {
    public static func copy(of cString: UnsafePointer<CChar>) -> SecretBytes? {
        copy(of: UnsafeRawBufferPointer(start: cString, count: shim_length(cString)))
    }

    static func copy(of string: JSONString) -> SecretBytes? {
        make(count: string.count) { target in
            var index = 0
            string.forEachByte { byte in
                target[index] = byte
                index += 1
            }
        }
    }
}

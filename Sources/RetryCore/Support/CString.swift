extension StaticString {
    /// The text as a C string; a StaticString ends in NUL.
    public var cString: UnsafePointer<CChar> {
        UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    }
}

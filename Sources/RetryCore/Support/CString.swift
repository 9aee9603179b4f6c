extension StaticString {
    /// The text as C wants it; a StaticString ends in NUL.
    public var cString: UnsafePointer<CChar> {
        UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self)
    }
}

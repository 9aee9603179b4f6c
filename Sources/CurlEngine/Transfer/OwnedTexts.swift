import CShims

/// Texts of a client's options, which live as long as this.
final class OwnedTexts {
    private var texts: [UnsafeMutablePointer<CChar>] = []

    deinit {
        for text in texts { shim_free(text) }
    }

    func append(_ text: UnsafeMutablePointer<CChar>) {
        texts.append(text)
    }
}

/// What a loop has learned about origins. Only the holder of the loop touches it.
final class KnownOrigins {
    var protocols = ProtocolCache()
    var doubtful = DoubtfulAddresses()
}

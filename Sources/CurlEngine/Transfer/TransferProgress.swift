import CShims

/// How far the bodies have come, and what of that has been reported.
struct TransferProgress {
    /// Bytes that have moved, in both directions.
    var moved: Int64 = 0
    /// What has not been reported yet, and when something last was.
    var unreported: shim_progress?
    var reportedAt: Int64 = 0
    var totals: (receive: Int64, send: Int64)?
}

import CBoxRetry
import CShims
import CurlEngine
import RetryCore

// `boxretry_client` without a thread

@_cdecl("boxretry_client_drive") @implementation
public func boxretry_client_drive(_ client: OpaquePointer!, _ timeout_ms: Int64) -> boxretry_error {
    answer { () throws(Failure) in
        try refuseInCallback()
        // Retained, because another thread may free the client meanwhile.
        let engine = try ClientHandle.retained(try required(client, "client"), "client").engine
        guard engine.settings.isDriven else {
            throw .invalidArgument("client", "has threads: it was made without BOXRETRY_THREADS_NONE")
        }
        guard engine.drive(until: try checkedLimit(timeout_ms)) else { throw .closed("client") }
    }
}

@_cdecl("boxretry_client_fd") @implementation
public func boxretry_client_fd(_ client: OpaquePointer!) -> Int32 {
    ClientHandle.read(client, "client", -1) { $0.engine.descriptor }
}

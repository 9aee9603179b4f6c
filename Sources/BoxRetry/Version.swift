import CBoxRetry
import CShims

@_cdecl("boxretry_version") @implementation
public func boxretry_version() -> UnsafePointer<CChar>! {
    shim_version()
}

@_cdecl("boxretry_version_number") @implementation
public func boxretry_version_number() -> Int32 {
    BOXRETRY_VERSION_MAJOR * 10_000 + BOXRETRY_VERSION_MINOR * 100 + BOXRETRY_VERSION_PATCH
}

@_cdecl("boxretry_libcurl_version") @implementation
public func boxretry_libcurl_version() -> UnsafePointer<CChar>! {
    shim_curl_version_text()
}

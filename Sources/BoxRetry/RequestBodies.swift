import CBoxRetry
import CShims
import CurlEngine
import RetryCore

extension boxretry_body_source: SizedStruct {
    static var defaults: boxretry_body_source {
        boxretry_body_source(
            struct_size: MemoryLayout<boxretry_body_source>.size, kind: 0, descriptor: -1, path: nil, offset: 0,
            length: -1, read: nil, rewind: nil, context_free: nil, context: nil, parts: nil, part_count: 0)
    }

    static var firstSize: Int { 88 }
}

extension boxretry_sink: SizedStruct {
    static var defaults: boxretry_sink {
        boxretry_sink(
            struct_size: MemoryLayout<boxretry_sink>.size, kind: 0, is_resumable: 0, path: nil, write: nil,
            restart: nil, context_free: nil, context: nil, begin: nil, takes_errors: 0, reserved: 0)
    }

    static var firstSize: Int { 56 }
}

/// The absolute path of a file that is opened later, so that it stays valid if the program changes its directory (B15).
/// Free it.
func absolutePath(
    _ path: UnsafePointer<CChar>, _ place: shim_place
) throws(Failure) -> UnsafeMutablePointer<CChar> {
    var error: Int32 = 0
    if let absolute = shim_absolute_path(path, &error) { return absolute }
    guard error != SHIM_FILE_NO_MEMORY else { throw .outOfMemory }
    throw .invalidArgument(place, system: error)
}

// MARK: - Sources

extension RequestCopy.Body {
    /// Checks and copies the caller's source. Its callbacks are called only if the call begins.
    static func checked(
        _ pointer: UnsafePointer<boxretry_body_source>, isBorrowed: Bool, _ engine: Engine
    ) throws(Failure) -> RequestCopy.Body {
        let source = try boxretry_body_source.read(pointer, "body_source")
        guard source.offset >= 0 else {
            throw .invalidArgument("body_source", "offset", "must be 0 or more", is: source.offset)
        }
        guard source.length >= -1 else {
            throw .invalidArgument("body_source", "length", "must be -1 or more", is: source.length)
        }
        switch Int(source.kind) {
        case BOXRETRY_SOURCE_FILE:
            guard let given = source.path else { throw .invalidArgument("body_source", "path", "is NULL") }
            let path = try absolutePath(given, shim_place("body_source", "path"))
            defer { shim_free(path) }
            guard let file = FileSource.make(path: path, offset: source.offset, length: source.length) else {
                throw .outOfMemory
            }
            return .stream(file)
        case BOXRETRY_SOURCE_DESCRIPTOR:
            let fileLength = shim_file_length(source.descriptor)
            guard fileLength >= 0 else {
                throw .invalidArgument(
                    "body_source", "descriptor", "does not refer to a regular file", is: Int64(source.descriptor))
            }
            if let problem = FileSource.problem(offset: source.offset, length: source.length, inFileOf: fileLength) {
                throw .invalidArgument(problem)
            }
            let descriptor = shim_file_duplicate(source.descriptor)
            guard descriptor >= 0 else { throw .exhausted }
            return .stream(FileSource(descriptor: descriptor, offset: source.offset, length: source.length))
        case BOXRETRY_SOURCE_CALLBACK: return .stream(try callback(source))
        case BOXRETRY_SOURCE_MULTIPART: return .form(try multipart(source, isBorrowed: isBorrowed, engine))
        default:
            throw .invalidArgument("body_source", "kind", "is not a BOXRETRY_SOURCE_ constant", is: Int64(source.kind))
        }
    }

    private static func callback(_ source: boxretry_body_source) throws(Failure) -> CallbackSource {
        guard let read = source.read else { throw .invalidArgument("body_source", "read", "is NULL") }
        let context = source.context
        let rewind = source.rewind
        let contextFree = source.context_free
        return CallbackSource(
            length: source.length,
            read: { handle, buffer, capacity in
                let count = asked(Int64(BOXRETRY_READ_FAILED)) {
                    read(context, OpaquePointer(handle), buffer, capacity, $0)
                }
                if count == Int64(BOXRETRY_READ_PAUSE) { return .pause }
                return count >= 0 && count <= Int64(capacity) ? .bytes(Int(count)) : .failed
            },
            rewind: rewind.map { rewind in { asked(Int32(0)) { rewind(context, $0) } == 1 } },
            close: { if let contextFree { called { contextFree(context) } } })
    }

    private static func multipart(
        _ source: boxretry_body_source, isBorrowed: Bool, _ engine: Engine
    ) throws(Failure) -> MultipartSource {
        guard let parts = source.parts else { throw .invalidArgument("body_source", "parts", "is NULL") }
        guard source.part_count >= 1, source.part_count <= 1_000 else {
            throw .invalidArgument("body_source", "part_count", "must be from 1 to 1000")
        }
        let multipart: MultipartSource
        do throws(Engine.HandleFailure) {
            multipart = try engine.makeForm()
        } catch {
            throw error == .closed ? .closed("client") : .outOfMemory
        }
        for index in 0..<source.part_count { try multipart.add(parts[index], at: index, isBorrowed: isBorrowed) }
        return multipart
    }
}

extension MultipartSource {
    fileprivate func add(_ part: boxretry_part, at index: Int, isBorrowed: Bool) throws(Failure) {
        func refused(_ field: StaticString, _ why: StaticString) -> Failure {
            .invalidArgument(shim_place("parts", at: index, field), why)
        }
        guard let name = part.name else { throw refused("name", "is NULL") }
        guard part.header_count <= 64 else { throw refused("header_count", "must be at most 64") }
        let headers = try HeaderList(reading: part.headers, part.header_count, "parts")
        try headers.check { shim_place("parts", at: index, "headers", at: $0) }
        let texts: [(StaticString, UnsafePointer<CChar>?)] = [
            ("name", name), ("file_name", part.file_name), ("content_type", part.content_type),
        ]
        for (field, text) in texts {
            if let text, !RequestChecks.isHeaderValue(text) { throw refused(field, "has a control character") }
        }
        guard part.data_length >= 0 else { throw refused("data_length", "must be below 2^63") }
        guard part.path == nil || part.data == nil else { throw refused("data", "is given, and path, too") }
        guard part.data != nil || part.data_length == 0 else {
            throw refused("data", "is NULL, but data_length is not 0")
        }
        let path = try part.path.map { path throws(Failure) in
            try absolutePath(path, shim_place("parts", at: index, "path"))
        }
        defer { shim_free(path) }
        let own = shim_part(
            name: name, file_name: part.file_name, content_type: part.content_type, headers: nil, data: part.data,
            data_length: part.data_length, path: path)
        switch add(own, headers: headers, isBorrowed: isBorrowed) {
        case .added: break
        case .outOfMemory: throw .outOfMemory
        case .unreadable: throw .source(reason)
        }
    }
}

// MARK: - Sinks

extension boxretry_sink {
    /// Checks and copies the caller's sink; NULL means none. Its callbacks are called only if the call begins.
    static func checked(_ pointer: UnsafePointer<boxretry_sink>?) throws(Failure) -> (any BodySink)? {
        guard let pointer else { return nil }
        let sink = try read(pointer, "sink")
        guard sink.reserved == 0 else { throw .invalidArgument("sink", "reserved", "must be 0") }
        switch Int(sink.kind) {
        case BOXRETRY_SINK_FILE:
            guard let given = sink.path, given.pointee != 0 else {
                throw .invalidArgument("sink", "path", "is NULL or empty")
            }
            let path = try absolutePath(given, shim_place("sink", "path"))
            defer { shim_free(path) }
            let error = FileSink.check(path: path)
            guard error != SHIM_FILE_NO_MEMORY else { throw .outOfMemory }
            guard error == 0 else { throw .invalidArgument(FailureReason("sink", "path", .system(error))) }
            guard let file = FileSink.make(path: path, isResumable: sink.is_resumable != 0) else { throw .outOfMemory }
            return file
        case BOXRETRY_SINK_CALLBACK: return try callback(sink)
        default: throw .invalidArgument("sink", "kind", "is not a BOXRETRY_SINK_ constant", is: Int64(sink.kind))
        }
    }

    private static func callback(_ sink: boxretry_sink) throws(Failure) -> CallbackSink {
        guard let write = sink.write else { throw .invalidArgument("sink", "write", "is NULL") }
        guard sink.is_resumable == 0 else { throw .invalidArgument("sink", "is_resumable", "is for files only") }
        let takesErrors = sink.takes_errors != 0
        let context = sink.context
        let restart = sink.restart
        let begin = sink.begin
        let contextFree = sink.context_free
        return CallbackSink(
            write: { handle, data, count in
                let answer = asked(Int32(BOXRETRY_WRITE_FAILED)) {
                    write(context, OpaquePointer(handle), data, count, $0)
                }
                switch Int(answer) {
                case BOXRETRY_WRITE_TAKEN: return .taken
                case BOXRETRY_WRITE_PAUSE: return .pause
                default: return .failed
                }
            },
            restart: restart.map { restart in { asked(Int32(0)) { restart(context, $0) } == 1 } },
            begin: begin.map { begin in
                { head in
                    var seen = boxretry_response_head(
                        struct_size: MemoryLayout<boxretry_response_head>.size, status: head.status,
                        http_version: head.httpVersion, url: head.url, headers: head.headers.cHeaders,
                        header_count: head.headers.count, reason_phrase: head.reasonPhrase)
                    return asked(Int32(0)) { begin(context, OpaquePointer(head.handle), &seen, $0) } == 1
                }
            },
            close: { if let contextFree { called { contextFree(context) } } }, takesErrors: takesErrors)
    }
}

@_cdecl("boxretry_body_source_init") @implementation
public func boxretry_body_source_init(
    _ source: UnsafeMutablePointer<boxretry_body_source>!, _ struct_size: Int
) -> boxretry_error {
    answer { () throws(Failure) in try boxretry_body_source.initialize(source, "source", structSize: struct_size) }
}

@_cdecl("boxretry_sink_init") @implementation
public func boxretry_sink_init(_ sink: UnsafeMutablePointer<boxretry_sink>!, _ struct_size: Int) -> boxretry_error {
    answer { () throws(Failure) in try boxretry_sink.initialize(sink, "sink", structSize: struct_size) }
}

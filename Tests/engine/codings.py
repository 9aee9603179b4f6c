"""Content codings as a server applies them. Python has no brotli and no zstd: the machine's own libraries do it."""

from __future__ import annotations

import ctypes
import zlib
from typing import Callable


def _zlib(window_bits: int) -> Callable[[bytes], bytes]:
    def pack(data: bytes) -> bytes:
        compressor = zlib.compressobj(wbits=window_bits)
        return compressor.compress(data) + compressor.flush()

    return pack


def _brotli(data: bytes) -> bytes:
    library = ctypes.CDLL("libbrotlienc.so.1")
    size = ctypes.c_size_t(len(data) + 1_000)
    out = ctypes.create_string_buffer(size.value)
    assert library.BrotliEncoderCompress(5, 22, 0, ctypes.c_size_t(len(data)), data, ctypes.byref(size), out)
    return out.raw[: size.value]


def _zstd(data: bytes) -> bytes:
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compress.restype = ctypes.c_size_t
    room = ctypes.c_size_t(len(data) + 1_000)
    out = ctypes.create_string_buffer(room.value)
    size = library.ZSTD_compress(out, room, data, ctypes.c_size_t(len(data)), 3)
    assert size <= room.value
    return out.raw[:size]


def _libcurl_features() -> int:
    """The bits CURL_VERSION_… of the libcurl that is there."""
    library = ctypes.CDLL("libcurl.so.4")
    library.curl_version_info.restype = ctypes.c_void_p
    return ctypes.c_int.from_address(library.curl_version_info(0) + 4 * ctypes.sizeof(ctypes.c_void_p)).value


#: The names that libcurl's own libraries can unpack.
OFFERED = [
    name
    for bit, names in ((3, ["gzip", "deflate"]), (23, ["br"]), (26, ["zstd"]))
    for name in names
    if _libcurl_features() >> bit & 1
]
#: By what a server may send: the name of the coding, and the function that applies it.
CODINGS: dict[str, tuple[str, Callable[[bytes], bytes]]] = {
    what: (name, pack)
    for what, name, pack in (
        ("gzip", "gzip", _zlib(31)),
        ("deflate", "deflate", _zlib(15)),
        ("deflate without zlib's format", "deflate", _zlib(-15)),
        ("brotli", "br", _brotli),
        ("zstd", "zstd", _zstd),
    )
    if name in OFFERED
}


def framed(body: bytes, framing: str, *headers: str, status: str = "200 OK") -> bytes:
    """An answer of HTTP/1.1 whose framing says that this is the whole body: "length", "chunked" or "close"."""
    lines = [f"HTTP/1.1 {status}", "Connection: close", *headers]
    if framing == "length":
        lines.append(f"Content-Length: {len(body)}")
    elif framing == "chunked":
        lines.append("Transfer-Encoding: chunked")
        body = b"".join(b"%x\r\n%b\r\n" % (len(piece), piece) for piece in (body[:7], body[7:]) if piece) + b"0\r\n\r\n"
    return "\r\n".join([*lines, "\r\n"]).encode("latin-1") + body

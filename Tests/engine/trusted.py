"""What libcurl trusts for a client: it says so in its trace, which the `on_transfer` hook turns on."""

from __future__ import annotations

import re
from ctypes import CFUNCTYPE, POINTER, byref, c_char, c_int, c_long, c_size_t, c_void_p, cdll, string_at

from boxretry._c import _abi
from boxretry._c.arguments import new

_VERBOSE, _DEBUGFUNCTION = 41, 20094  # CURLOPT_…
_DebugCallback = CFUNCTYPE(c_int, c_void_p, c_int, POINTER(c_char), c_size_t, c_void_p)


def trusted_by(url: str, **options: str) -> tuple[str, str]:
    """Sends a request from a client with these options; the file and the directory that libcurl used."""
    curl = cdll.LoadLibrary("libcurl.so.4")
    text: list[bytes] = []

    def on_trace(_curl: int, _kind: int, data: object, length: int, _context: int) -> int:
        text.append(string_at(data, length))  # type: ignore[arg-type]
        return 0

    trace = _DebugCallback(on_trace)

    def on_transfer(_context: int, easy: int) -> None:
        curl.curl_easy_setopt(c_void_p(easy), c_int(_VERBOSE), c_long(1))
        curl.curl_easy_setopt(c_void_p(easy), c_int(_DEBUGFUNCTION), trace)

    struct = new(_abi.ClientOptions, _abi.boxretry_client_options_init)
    hook = _abi.TransferCallback(on_transfer)
    struct.on_transfer, struct.max_total_attempts = hook, 1
    for name, value in options.items():
        setattr(struct, name, value.encode())
    client, response = c_void_p(), c_void_p()
    assert _abi.boxretry_client_new(byref(struct), byref(client)) == 0
    request = new(_abi.Request, _abi.boxretry_request_init)
    request.url = url.encode()
    assert _abi.boxretry_client_perform(client, byref(request), byref(response)) == 0
    _abi.boxretry_response_free(response)
    _abi.boxretry_client_close(client, _abi.NO_TIMEOUT)
    _abi.boxretry_client_free(client)
    said = b"".join(text).decode(errors="replace")
    file, folder = re.search(r"CAfile: (\S+)", said), re.search(r"CApath: (\S+)", said)
    assert file or folder, said
    # From 8.17 on, libcurl names only those that it uses.
    return file[1] if file else "none", folder[1] if folder else "none"

"""nginx as a second server for tests: one that this project did not write.

    with Nginx() as nginx:
        (nginx.files / "large").write_bytes(data)      # GET /files/large: ranges, ETag, Last-Modified
        url = nginx.url("/files/large", kind="h2")
        ...
        assert nginx.seen(1)[0]["status"] == 200

README.md beside it has the paths and ports. It runs in the foreground, in a separate folder, on ports of 127.0.0.1
that are free, and ends with the block.
"""

from __future__ import annotations

import grp
import http.client
import json
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from faults import certificates

REPOSITORY = Path(__file__).parents[2]
UNPACKED = REPOSITORY / "build" / "nginx" / "usr" / "sbin"  # by scripts/setup; else the machine's own is taken
WAIT_SECONDS = 10.0

LISTEN = {"http": "", "https": "ssl", "h2": "ssl http2", "h2c": "http2"}

SEEN = """{"connection": $connection, "protocol": "$server_protocol", "method": "$request_method", \
"path": "$request_uri", "status": $status, "request_length": $request_length, "sent_length": $body_bytes_sent, \
"range": "$http_range", "whole": "$request_completion"}"""

SERVER = """
    server {
        listen 127.0.0.1:%(port)d %(how)s;
        location /files/ { root .; }
        location /gzip/ { alias files/; gzip on; gzip_types *; gzip_min_length 0; }
        location /uploads/ { root .; dav_methods PUT DELETE; create_full_put_path on; client_max_body_size 0; }
    }
"""

CONFIGURATION = """
daemon off;
user %(user)s;
pid nginx.pid;
error_log error.log;
events { worker_connections 1024; }
http {
    log_format seen escape=json '%(seen)s';
    access_log syslog:server=unix:%(folder)s/seen.socket,nohostname seen;
    client_body_temp_path temporary/body;
    proxy_temp_path temporary/proxy;
    fastcgi_temp_path temporary/fastcgi;
    uwsgi_temp_path temporary/uwsgi;
    scgi_temp_path temporary/scgi;
    ssl_certificate good.pem;
    ssl_certificate_key good.key;
    default_type application/octet-stream;
    %(directives)s
    %(servers)s
}
"""


class Nginx:
    """`directives` are further lines of its configuration, for all ports: Nginx("keepalive_requests 2;")."""

    def __init__(self, directives: str = "") -> None:
        self._directives = directives
        self._seen: list[dict[str, Any]] = []

    def __enter__(self) -> Nginx:
        self._temporary = tempfile.TemporaryDirectory(prefix="nginx.")
        folder = Path(self._temporary.name)
        self.files = folder / "files"
        self.uploads = folder / "uploads"
        for each in (self.files, self.uploads, folder / "temporary"):
            each.mkdir()
        self.ca: str = certificates.make(folder)[1]["ca"]  # path of the certificate that TLS clients are to trust
        self._log = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._log.bind(str(folder / "seen.socket"))
        self._log.settimeout(WAIT_SECONDS)
        self._start(folder)
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        code = self._process.wait(WAIT_SECONDS)
        self._log.close()
        errors = self._errors()
        self._temporary.cleanup()
        if code != 0:
            raise RuntimeError(f"nginx has failed: {errors}")

    def url(self, path: str, *, kind: str = "http") -> str:
        scheme = "https" if kind in ("https", "h2") else "http"
        return f"{scheme}://127.0.0.1:{self.ports[kind]}{path}"

    def seen(self, requests: int) -> list[dict[str, Any]]:
        """The requests that have ended, in this order; waits until there are `count`."""
        while len(self._seen) < requests:
            message = self._log.recv(65536)
            self._seen.append(json.loads(message[message.index(b"{") :]))
        return list(self._seen)

    def _start(self, folder: Path) -> None:
        # It is given sockets that listen already, as one nginx hands them on to its successor: so no program can take a
        # port in between, and clients can connect at once.
        sockets = {kind: socket.create_server(("127.0.0.1", 0), backlog=512) for kind in LISTEN}
        self.ports: dict[str, int] = {kind: each.getsockname()[1] for kind, each in sockets.items()}
        servers = [SERVER % {"port": self.ports[kind], "how": how} for kind, how in LISTEN.items()]
        (folder / "nginx.conf").write_text(
            CONFIGURATION
            % {
                "user": f"{pwd.getpwuid(os.getuid()).pw_name} {grp.getgrgid(os.getgid()).gr_name}",
                "seen": SEEN,
                "folder": folder,
                "directives": self._directives,
                "servers": "".join(servers),
            }
        )
        for each in sockets.values():
            each.setblocking(False)
        numbers = [each.fileno() for each in sockets.values()]
        self._process = subprocess.Popen(
            # It ends when the process that started it does, in any way.
            ["setpriv", "--pdeathsig", "TERM", _program(), "-p", str(folder), "-c", "nginx.conf", "-e", "error.log"],
            env={"NGINX": "".join(f"{number};" for number in numbers)},
            pass_fds=numbers,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,  # error.log has it too
        )
        for each in sockets.values():
            each.close()
        try:
            self._wait_until_it_answers()
        except OSError:
            self._process.terminate()
            self._process.wait(WAIT_SECONDS)
            raise RuntimeError(f"nginx did not start: {self._errors()}") from None

    def _wait_until_it_answers(self) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", self.ports["http"], timeout=WAIT_SECONDS)
        try:
            connection.request("GET", "/files/")
            connection.getresponse().read()
        finally:
            connection.close()
        self.seen(1)
        self._seen.clear()

    def _errors(self) -> str:
        return (Path(self._temporary.name) / "error.log").read_text()


def _program() -> str:
    path = os.pathsep.join([str(UNPACKED), os.environ.get("PATH", ""), "/usr/sbin"])
    program = shutil.which("nginx", path=path)
    if program is None:
        raise RuntimeError("there is no nginx; scripts/setup gets it")
    return program

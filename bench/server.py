"""nginx, as the server of the benchmarks: it does as little as can be done."""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from measure import ROOT

sys.path.insert(0, str(ROOT / "Tests/server"))

from faults import certificates

BODY = "x" * 256
LARGE = 1 << 30

CONFIGURATION = """
daemon off; user {user}; worker_processes 1; pid pid; error_log stderr emerg;
events {{ worker_connections 16384; }}
http {{
  access_log off; keepalive_requests 1000000000; keepalive_timeout 600; sendfile on; lingering_time 600;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  ssl_certificate good.pem; ssl_certificate_key good.key; http2_max_concurrent_streams 128;
  map $connection_requests $is_busy {{ ~[13579]$ 1; default 0; }}
  server {{
    listen 127.0.0.1:{http} backlog=16384;
    listen 127.0.0.1:{https} ssl http2;
    client_max_body_size 0;
    location / {{ return 200 "{body}"; }}
    location /large {{ root .; }}
    location /later {{
      add_header Retry-After 3600 always;
      return 503 "{body}";
    }}
    location /busy {{
      add_header Retry-After 0 always;
      if ($is_busy) {{ return 503 "{body}"; }}
      return 200 "{body}";
    }}
  }}
}}
"""


class Server(NamedTuple):
    """Where it is reached.

    `/` answers at once with 256 bytes, and forgets what it is sent; `/large` is a file of 1 GiB; `/later` is a 503 with
    `Retry-After: 3600`; on each connection, every second answer of `/busy` is one with 0.
    """

    http: str
    https: str
    #: The file with the certificate that clients are to trust.
    ca: str


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def user() -> str:
    """Who runs this: nginx, if it may, would be somebody else, who may not look into its folder."""
    return f"{pwd.getpwuid(os.getuid()).pw_name} {grp.getgrgid(os.getgid()).gr_name}"


def nginx_program() -> str:
    program = shutil.which("nginx", path=os.pathsep.join([f"{ROOT}/build/nginx/usr/sbin", os.environ["PATH"]]))
    if program is None:
        sys.exit("bench: there is no nginx; scripts/setup gets it")
    return program


def nginx_version() -> str:
    return subprocess.run([nginx_program(), "-v"], check=True, text=True, capture_output=True).stderr.split()[-1]


@contextlib.contextmanager
def nginx() -> Iterator[Server]:
    program = nginx_program()
    with tempfile.TemporaryDirectory() as folder:
        ca = certificates.make(Path(folder))[1]["ca"]
        ports = {"http": free_port(), "https": free_port()}
        (Path(folder) / "nginx.conf").write_text(CONFIGURATION.format(user=user(), body=BODY, **ports))
        with open(Path(folder) / "large", "wb") as large:
            large.truncate(LARGE)
        server = subprocess.Popen([program, "-p", folder, "-e", "stderr", "-c", "nginx.conf"])
        try:
            while any(socket.socket().connect_ex(("127.0.0.1", port)) != 0 for port in ports.values()):
                if server.poll() is not None:
                    sys.exit("bench: nginx did not start")
                time.sleep(0.01)
            yield Server(f"http://127.0.0.1:{ports['http']}", f"https://127.0.0.1:{ports['https']}", ca)
        finally:
            server.terminate()
            server.wait()

"""Certificates for the TLS ports, made by the openssl command: nothing that expires is in the repository."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path

CONFIG = """
[ca]
default_ca = test_ca
[test_ca]
new_certs_dir = .
database = index.txt
certificate = ca.pem
private_key = ca.key
default_md = sha256
policy = anything
unique_subject = no
rand_serial = yes
[anything]
commonName = supplied
[req]
distinguished_name = nothing
[nothing]
[authority]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign
subjectKeyIdentifier = hash
[leaf]
basicConstraints = critical, CA:FALSE
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = ${ENV::NAMES}
"""

ONE_KEY = "-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
HERE = "DNS:localhost, IP:127.0.0.1"
ELSEWHERE = "DNS:elsewhere.example"
FOR_LONG = "-startdate 20200101000000Z -enddate 20991231235959Z"
IN_THE_PAST = "-startdate 20200101000000Z -enddate 20200102000000Z"
IN_THE_FUTURE = "-startdate 20990101000000Z -enddate 20991231235959Z"


def make(folder: Path) -> tuple[dict[str, ssl.SSLContext], dict[str, str]]:
    """A server's context for each kind of TLS port, and the files that clients use. All is made in `folder`."""
    (folder / "openssl.cnf").write_text(CONFIG)
    (folder / "index.txt").write_text("")
    _openssl(
        folder, f"req -x509 {ONE_KEY} -days 3650 -subj /CN=Test_CA -extensions authority -keyout ca.key -out ca.pem"
    )
    _leaf(folder, "good", HERE, FOR_LONG)
    _leaf(folder, "expired", HERE, IN_THE_PAST)
    _leaf(folder, "not_yet_valid", HERE, IN_THE_FUTURE)
    _leaf(folder, "wrong_name", ELSEWHERE, FOR_LONG)
    _leaf(folder, "self_signed", HERE, FOR_LONG + " -selfsign")
    _leaf(folder, "client", HERE, FOR_LONG)
    _leaf(folder, "stranger", HERE, FOR_LONG + " -selfsign")
    contexts = {}
    for kind, protocols in (("https", ["http/1.1"]), ("h2", ["h2", "http/1.1"])):
        contexts[kind] = _context(folder, "good", protocols)
        for name in ("expired", "not_yet_valid", "wrong_name", "self_signed"):
            contexts[f"{kind}_{name}"] = _context(folder, name, protocols)
        contexts[f"{kind}_client"] = _context(folder, "good", protocols)
        contexts[f"{kind}_client"].verify_mode = ssl.CERT_REQUIRED
        contexts[f"{kind}_client"].load_verify_locations(folder / "ca.pem")
    files = {"ca": str(folder / "ca.pem")}
    for name in ("client", "stranger"):
        files[f"{name}_certificate"] = str(folder / f"{name}.pem")
        files[f"{name}_key"] = str(folder / f"{name}.key")
    return contexts, files


def _context(folder: Path, name: str, protocols: list[str]) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / f"{name}.pem", folder / f"{name}.key")
    context.set_alpn_protocols(protocols)
    return context


def _leaf(folder: Path, name: str, names: str, dates: str) -> None:
    """NAME.pem and NAME.key."""
    _openssl(folder, f"req -new {ONE_KEY} -subj /CN={name} -keyout {name}.key -out {name}.csr", names)
    signer = f"-keyfile {name}.key" if "-selfsign" in dates else ""
    _openssl(folder, f"ca -batch -notext -extensions leaf {dates} {signer} -in {name}.csr -out {name}.pem", names)


def _openssl(folder: Path, arguments: str, names: str = HERE) -> None:
    command = ["openssl", *arguments.split(), "-config", "openssl.cnf"]
    done = subprocess.run(command, cwd=folder, env={"NAMES": names, "PATH": "/usr/bin:/bin"}, capture_output=True)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr.decode()}")

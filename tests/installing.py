"""A wheel to install, and a server that has it, for the tests of what the docs say to install."""

from __future__ import annotations

import contextlib
import datetime as dt
import functools
import hashlib
import http.server
import ipaddress
import ssl
import threading
import zipfile
from collections.abc import Iterator
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

_NAME = "hardcost-0.0-py3-none-any.whl"
_FILES = {
    "installed_hardcost.py": "def main():\n    print('installed')\n",
    "hardcost-0.0.dist-info/METADATA": "Metadata-Version: 2.1\nName: hardcost\nVersion: 0.0\n"
    "Provides-Extra: dask\n",
    "hardcost-0.0.dist-info/WHEEL": "Wheel-Version: 1.0\nTag: py3-none-any\n",
    "hardcost-0.0.dist-info/entry_points.txt": "[console_scripts]\n"
    "hardcost=installed_hardcost:main\n",
    "hardcost-0.0.dist-info/RECORD": "",
}


def wheel(folder: Path) -> tuple[Path, str]:
    """Return a wheel called hardcost that needs nothing else, and its sha256."""
    path = folder / _NAME
    with zipfile.ZipFile(path, "w") as file:
        for name, text in _FILES.items():
            file.writestr(name, text)
    return path, hashlib.sha256(path.read_bytes()).hexdigest()


@contextlib.contextmanager
def served(folder: Path, authority: Path) -> Iterator[str]:
    """Serve a folder by HTTPS; yield its address, and write who vouches for it to a file."""
    context = _certified(authority)
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield f"https://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_: object) -> None:
        pass


def _certified(authority: Path) -> ssl.SSLContext:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = dt.datetime.now(dt.UTC)
    here = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=1))
        .add_extension(here, critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    authority.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    both = authority.with_suffix(".both")
    both.write_bytes(private + authority.read_bytes())
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(both)
    return context

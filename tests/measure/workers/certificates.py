"""A certificate authority and certificates of it, made for a test."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


def authority(folder: Path, title: str) -> tuple[str, str, str]:
    """Write an authority's certificate, and a host's of that authority with its key."""
    own, host = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    paths = [folder / f"{title}-{part}.pem" for part in ("ca", "cert", "key")]
    paths[0].write_bytes(_signed(title, title, own, own, is_authority=True))
    paths[1].write_bytes(_signed(f"{title} host", title, host, own, is_authority=False))
    paths[2].write_bytes(
        host.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    ca, cert, key = map(str, paths)
    return ca, cert, key


def _signed(
    title: str,
    by: str,
    key: ec.EllipticCurvePrivateKey,
    issuer: ec.EllipticCurvePrivateKey,
    *,
    is_authority: bool,
) -> bytes:
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(_named(title))
        .issuer_name(_named(by))
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - DAY)
        .not_valid_after(now + DAY)
        .add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        .sign(issuer, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM)


def _named(title: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, title)])

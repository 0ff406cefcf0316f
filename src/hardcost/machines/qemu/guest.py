"""The small guest: an initramfs of the probe and the audit package's own auditctl."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from hardcost.errors import MachineError
from hardcost.machines import debian
from hardcost.machines.cache import digest, file_digest
from hardcost.machines.process import run
from hardcost.machines.qemu import cpio

if TYPE_CHECKING:
    from hardcost.machines.cache import Cache

AUDIT_PACKAGES = ("auditd", "libaudit1", "libauparse0", "libcap-ng0", "libc6")
_AUDITCTL = "sbin/auditctl"
_LIBRARIES = "lib/x86_64-linux-gnu"
_LOADER = f"{_LIBRARIES}/ld-linux-x86-64.so.2"
_RECIPE = "2"  # raise it when what goes into the archive changes other than by its parts

_USERS = """\
root:x:0:0:root:/root:/bin/sh
daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
bin:x:2:2:bin:/bin:/usr/sbin/nologin
sys:x:3:3:sys:/dev:/usr/sbin/nologin
mail:x:8:8:mail:/var/mail:/usr/sbin/nologin
www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin
user:x:1000:1000:user:/home/user:/bin/sh
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
"""
_GROUPS = """\
root:x:0:
daemon:x:1:
bin:x:2:
sys:x:3:
adm:x:4:
tty:x:5:
disk:x:6:
mail:x:8:
shadow:x:42:
utmp:x:43:
www-data:x:33:
user:x:1000:
nogroup:x:65534:
"""


def probe_binary() -> Path:
    """Return the probe that was built with this hardcost.

    Raises:
        MachineError: It was not built.
    """
    probe = Path(str(resources.files("hardcost"))) / "bin" / "hardcost-probe"
    if not probe.is_file():
        raise MachineError(f"the probe {probe} is missing", hint="`make setup` builds it")
    return probe


def initramfs(cache: Cache) -> Path:
    """Return the guest's archive, made on first use."""
    probe = probe_binary()
    parts = {package: debian.version(cache, package) for package in AUDIT_PACKAGES}
    name = digest({**parts, "probe": file_digest(probe), "recipe": _RECIPE})

    def fill(folder: Path) -> None:
        (folder / "initrd.cpio").write_bytes(cpio.archive(_files(cache, probe)))

    return cache.make("guests", name, "small guest: probe and auditctl", fill) / "initrd.cpio"


def _files(cache: Cache, probe: Path) -> list[cpio.File]:
    return [
        cpio.regular("init", probe.read_bytes(), 0o755),
        cpio.link("bin/noop", "/init"),
        cpio.regular("etc/passwd", _USERS.encode()),
        cpio.regular("etc/group", _GROUPS.encode()),
        cpio.regular("etc/hosts", b"127.0.0.1 localhost\n"),
        *(cpio.File(folder, 0o040755) for folder in ("dev", "proc", "sys", "tmp", "run", "home")),
        *_auditctl(cache),
    ]


def _auditctl(cache: Cache) -> list[cpio.File]:
    """Return auditctl with the libraries that its own loader says it needs."""
    roots = [debian.unpacked(cache, package) for package in AUDIT_PACKAGES]

    def find(path: str) -> Path:
        for root in roots:
            for place in (root / path, root / "usr" / path):
                if place.exists():
                    return place
        raise MachineError(
            f"{path} is in none of the packages {', '.join(AUDIT_PACKAGES)}",
            hint="this release of Debian packs it elsewhere; please report it",
        )

    loader, program = find(_LOADER), find(_AUDITCTL)
    folders = ":".join(str(root / _LIBRARIES) for root in roots)
    listed = run([loader, "--library-path", folders, "--list", program])
    needed = [line.split()[0] for line in listed.splitlines() if "=>" in line]
    libraries = [Path(name).name for name in needed if not name.startswith("/lib64/")]
    return [
        cpio.regular(_AUDITCTL, program.read_bytes(), 0o755),
        cpio.regular("lib64/ld-linux-x86-64.so.2", loader.read_bytes(), 0o755),
        *(
            cpio.regular(f"{_LIBRARIES}/{name}", find(f"{_LIBRARIES}/{name}").read_bytes(), 0o755)
            for name in libraries
        ),
    ]

"""The initramfs of a guest: our programs, the audit package's own auditctl, and more."""

from __future__ import annotations

from pathlib import Path

from hardcost.machines.vm.boot_kernel import BootKernel
from hardcost.machines.vm.content import compiler, cpio, modules
from hardcost.machines.vm.content.packages import Packages
from hardcost.protocol.boot import Guest
from hardcost.supply.cache.cache import Cache, digest, file_digest
from hardcost.supply.packages import debian
from hardcost.supply.programs import program_path

AUDIT_PACKAGES = ("auditd", "libaudit1", "libauparse0t64 | libauparse0", "libcap-ng0", "libc6")
_AUDITCTL = "sbin/auditctl"
_RECIPE = "4"  # raise it when what goes into the archive changes other than by its parts

_TITLES: dict[Guest, str] = {
    "small": "small guest: hardcost's programs and auditctl",
    "compiler": "compiler guest: as the small one, with gcc, tcc, make and sources",
    "debian": "what starts a Debian guest: hardcost's programs and modules of the kernel",
}

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


_PROGRAMS = {
    "init": "hardcost-probe",
    "hardcost-measured": "hardcost-measured",
    "hardcost-noop": "hardcost-noop",
}
"""Our programs in every guest, by their paths there: the probe finds the others beside it."""


def probe_binary() -> Path:
    """Return the probe that was built with this hardcost.

    Raises:
        MachineError: It was not built.
    """
    return program_path("hardcost-probe")


def toolchain() -> str:
    """Return the toolchain of our programs, for a reader: compiler, linker and C library."""
    try:
        return (probe_binary().parent / "toolchain").read_text(encoding="utf-8").strip()
    except OSError:
        return "an unknown toolchain"


def initramfs(
    cache: Cache,
    kind: Guest = "small",
    kernel: BootKernel | None = None,
    release: str | None = None,
) -> Path:
    """Return a guest's archive, made on first use; its packages are a release's, or the host's.

    A Debian guest's holds the modules of `kernel` that mount its root; None has them built in.
    """
    parts = {name: file_digest(program_path(name)) for name in _PROGRAMS.values()}
    parts |= {"recipe": _RECIPE, "guest": kind}
    if kind == "debian":
        found = kernel.modules if kernel is not None else None
        parts |= {"modules": "" if found is None or kernel is None else kernel.digest}
    else:
        parts |= audit_versions(cache, release)
    if kind == "compiler":
        parts |= compiler.parts(cache, release)

    of = f", of Debian's {release}" if release is not None and kind != "debian" else ""
    title = f"{_TITLES[kind]}{of}"

    def fill(folder: Path) -> None:
        if kind == "debian" and found is not None:
            cache.check(found)
        listed = _starter(found) if kind == "debian" else _files(cache, kind, release)
        files = {file.path: file for file in listed}
        (folder / "initrd.cpio").write_bytes(cpio.archive(list(files.values())))

    return cache.make("guests", digest(parts), title, fill) / "initrd.cpio"


def audit_versions(cache: Cache, release: str | None = None) -> dict[str, str]:
    """Return the versions of the packages that hold auditctl, as they are named here."""
    return {name: debian.version(cache, name, release=release) for name in AUDIT_PACKAGES}


def _programs() -> list[cpio.ArchiveFile]:
    return [
        cpio.regular(path, program_path(name).read_bytes(), 0o755)
        for path, name in _PROGRAMS.items()
    ]


def _starter(folder: Path | None) -> list[cpio.ArchiveFile]:
    """Return the files that start a guest whose root is a disk; `folder` has the modules."""
    return [
        *_programs(),
        *(cpio.ArchiveFile(name, 0o040755) for name in ("dev", "proc", "sys", "tmp", "run", "new")),
        *([] if folder is None else modules.files(folder)),
    ]


def _files(cache: Cache, kind: Guest, release: str | None) -> list[cpio.ArchiveFile]:
    small = [
        *_programs(),
        cpio.link("bin/noop", "/hardcost-noop"),
        cpio.regular("etc/passwd", _USERS.encode()),
        cpio.regular("etc/group", _GROUPS.encode()),
        cpio.regular("etc/hosts", b"127.0.0.1 localhost\n"),
        *(
            cpio.ArchiveFile(folder, 0o040755)
            for folder in ("dev", "proc", "sys", "tmp", "run", "home")
        ),
        *Packages(cache, AUDIT_PACKAGES, release).programs([_AUDITCTL]),
    ]
    if kind == "small":
        return small
    return [*small, *compiler.files(cache, release)]

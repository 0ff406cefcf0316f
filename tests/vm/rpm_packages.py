"""RPM packages made by rpmbuild and signed by rpmsign, neither of which has to be installed."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from hardcost.supply.cache.cache import Cache
from hardcost.supply.packages import debian

_PACKAGES = (
    *("rpm", "rpm-common", "librpm10 | librpm9", "librpmbuild10 | librpmbuild9"),
    *("librpmio10 | librpmio9", "librpmsign10 | librpmsign9", "libfsverity0"),
    *("liblua5.3-0", "libpopt0", "libgomp1", "libmagic1t64 | libmagic1"),
    *("libdw1t64 | libdw1", "libelf1t64 | libelf1"),
)
_SIGNING = (
    *("gpg", "gpg-agent", "gpgconf", "libksba8", "libsqlite3-0"),
    *("libnpth0t64 | libnpth0", "libassuan9 | libassuan0", "libreadline8t64 | libreadline8"),
)
_SPEC = """\
Name: kernel-core
Version: 1
Release: 1
Summary: a kernel
License: GPL-2.0
AutoReqProv: no
%description
A kernel in a package.
%install
cp -a %{tree}/. %{buildroot}
%files
/lib/modules
"""


def rpm(
    cache: Cache, tree: Path, folder: Path, payload: str = "w19.zstdio", target: str = "x86_64"
) -> Path:
    """Return a package of what lies below `lib/modules` in a folder, packed as `payload` says."""
    programs = _Programs.of(cache, _PACKAGES, folder)
    (folder / "kernel.spec").write_text(_SPEC)
    definitions = {
        "_topdir": folder,
        "_dbpath": folder / "db",
        "tree": tree,
        "_binary_payload": payload,
        "__os_install_post": "%{nil}",
        "debug_package": "%{nil}",
    }
    words = ["-bb", "--quiet", "--target", target, *_defined(definitions)]
    programs.run("rpmbuild", *words, folder / "kernel.spec")
    (made,) = (folder / "RPMS" / target).glob("*.rpm")
    return made


def sign(cache: Cache, package: Path, keys: Path) -> None:
    """Sign a package with a new key, whose public part is written to `keys`."""
    programs = _Programs.of(cache, (*_PACKAGES, *_SIGNING), keys.parent)
    home = keys.parent / "gnupg"
    home.mkdir(mode=0o700)
    gpg = home / "gpg"  # as rpmsign calls it
    words = [programs.path("gpg"), "--homedir", home]
    words += ["--agent-program", programs.path("gpg-agent")]
    gpg.write_text(f'#!/bin/sh\nexec {shlex.join(map(str, words))} "$@"\n')
    gpg.chmod(0o755)
    programs.run(gpg, "--batch", "--passphrase", "", "--quick-gen-key", "packager", "rsa2048")
    definitions = {"__gpg": gpg, "_gpg_name": "packager", "_gpg_path": home}
    programs.run("rpmsign", *_defined(definitions), "--addsign", package)
    programs.run(gpg, "--armor", "--output", keys, "--export", "packager")
    programs.run("gpg-connect-agent", "--homedir", home, "--no-autostart", "killagent", "/bye")


@dataclass(frozen=True)
class _Programs:
    """Programs of unpacked packages, and the environment in which they find what they need."""

    roots: tuple[Path, ...]
    environment: dict[str, str]

    @classmethod
    def of(cls, cache: Cache, packages: tuple[str, ...], folder: Path) -> _Programs:
        roots = tuple(debian.package_folder(cache, name) for name in packages)
        configuration = folder / "configuration"  # which lies in several packages
        for root in roots:
            if (root / "usr/lib/rpm").is_dir():
                shutil.copytree(
                    root / "usr/lib/rpm", configuration, dirs_exist_ok=True, symlinks=True
                )
        own = [root / part / "x86_64-linux-gnu" for root in roots for part in ("usr/lib", "lib")]
        libraries = ":".join(map(str, own))
        environment = {"LD_LIBRARY_PATH": libraries, "RPM_CONFIGDIR": str(configuration)}
        return cls(roots, os.environ | environment)

    def path(self, name: str) -> Path:
        return next(path for root in self.roots if (path := root / "usr/bin" / name).exists())

    def run(self, program: str | Path, *words: str | Path) -> None:
        found = self.path(program) if isinstance(program, str) else program
        subprocess.run([found, *words], check=True, capture_output=True, env=self.environment)


def _defined(definitions: Mapping[str, object]) -> list[str]:
    return [word for name, value in definitions.items() for word in ("--define", f"{name} {value}")]

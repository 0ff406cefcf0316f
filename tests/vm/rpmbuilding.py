"""RPM packages made by rpmbuild, out of Debian's packages, which need not be installed for that."""

from __future__ import annotations

import os
import shutil
import subprocess
from typing import TYPE_CHECKING

from hardcost.machines import debianpackages

if TYPE_CHECKING:
    from pathlib import Path

    from hardcost.machines.cache import Cache

_PACKAGES = (
    *("rpm", "rpm-common", "librpm10 | librpm9", "librpmbuild10 | librpmbuild9"),
    *("librpmio10 | librpmio9", "librpmsign10 | librpmsign9", "libfsverity0"),
    *("liblua5.3-0", "libpopt0", "libgomp1", "libmagic1t64 | libmagic1"),
    *("libdw1t64 | libdw1", "libelf1t64 | libelf1"),
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
    roots = [debianpackages.unpacked(cache, name) for name in _PACKAGES]
    libraries = ":".join(f"{root}/usr/lib/x86_64-linux-gnu" for root in roots)
    program = next(path for root in roots if (path := root / "usr/bin/rpmbuild").exists())
    configuration = folder / "configuration"  # which lies in several packages
    for root in roots:
        if (root / "usr/lib/rpm").is_dir():
            shutil.copytree(root / "usr/lib/rpm", configuration, dirs_exist_ok=True, symlinks=True)
    (folder / "kernel.spec").write_text(_SPEC)
    definitions = {
        "_topdir": folder,
        "_dbpath": folder / "db",
        "tree": tree,
        "_binary_payload": payload,
        "__os_install_post": "%{nil}",
        "debug_package": "%{nil}",
    }
    words = [
        word for name, value in definitions.items() for word in ("--define", f"{name} {value}")
    ]
    subprocess.run(
        [program, "-bb", "--quiet", "--target", target, *words, folder / "kernel.spec"],
        check=True,
        capture_output=True,
        env=os.environ | {"LD_LIBRARY_PATH": libraries, "RPM_CONFIGDIR": str(configuration)},
    )
    (made,) = (folder / "RPMS" / target).glob("*.rpm")
    return made

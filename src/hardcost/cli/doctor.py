"""`hardcost doctor`: can this machine measure, with what, and what is missing."""

from __future__ import annotations

import json
import shutil
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING

import click

from hardcost.cli.console import note
from hardcost.cli.waiting import until_done
from hardcost.errors import HardcostError
from hardcost.machines import confined, host, process
from hardcost.machines.cache import Cache
from hardcost.machines.images import debian as image
from hardcost.machines.images import namespace
from hardcost.machines.kernels import sandbox, source, tools
from hardcost.machines.machine import Boot
from hardcost.machines.qemu import initramfs
from hardcost.machines.qemu.argv import QEMU
from hardcost.machines.qemu.maker import counting
from hardcost.machines.qemu.vm import kvm_works
from hardcost.report.text import visible
from hardcost.store.store import Store
from hardcost.store.storeplace import default_path

if TYPE_CHECKING:
    from collections.abc import Callable

    from hardcost.machines.machine import Machine

_FREE_BYTES = 2 << 30  # a kernel, its package and a few snapshots
_LIMIT_SECONDS = 120.0


@dataclass(frozen=True)
class Check:
    """One thing looked at: `needed` says that nothing can be measured without it."""

    name: str
    ok: bool
    found: str
    remedy: str = ""
    needed: bool = True


def doctor(format: str) -> None:  # noqa: A002
    """Say whether this machine can measure, with which instruments, and what is missing."""
    note("looking at programs, caches and guests; a first boot takes some seconds …")
    checks = _checks()
    if format == "json":
        print(json.dumps([asdict(check) for check in checks], indent=2))
    else:
        for check in checks:
            mark = "ok  " if check.ok else "NO  " if check.needed else "no  "
            click.echo(f"{mark}{check.name:22}{visible(check.found)}")
            if not check.ok and check.remedy:
                click.echo(f"      remedy: {visible(check.remedy)}")
    if any(check.needed and not check.ok for check in checks):
        raise click.exceptions.Exit(1)


def _checks() -> list[Check]:
    cache = Cache()
    machine = counting(cache)
    on = _try("host", lambda: host.check().title)
    if not on.ok:
        return [on]  # all else comes from its apt
    programs = [
        on,
        _program("setpriv", "util-linux"),
        _try("QEMU", lambda: machine.qemu_version),
        _confined(),
        _try(
            "the probe", lambda: f"{initramfs.probe_binary()}, built with {initramfs.toolchain()}"
        ),
        _try("kernel", lambda: machine.kernel.release),
        _try("small guest", lambda: str(initramfs.initramfs(cache))),
        _try("store", _store),
        _free(cache),
        _building(cache),
        _sandbox(),
        _images(),
        _converting(),
    ]
    if all(check.ok for check in programs if check.needed):
        programs.append(_try("instrument insn", lambda: _exact(machine)))
        programs.append(_kvm(cache))
    return programs


def _program(name: str, package: str) -> Check:
    found = process.found(name)
    return Check(name, found is not None, found or "missing", f"apt-get install {package}")


def _try(name: str, look: Callable[[], str]) -> Check:
    try:
        return Check(name, ok=True, found=look())
    except HardcostError as error:
        problem = error.problems[0]
        return Check(name, ok=False, found=problem.message, remedy=problem.hint or "")


def _building(cache: Cache) -> Check:
    """Look whether kernels can be built, which only kernel options need."""
    name = "building kernels"
    found = tools.find()
    if found.missing:
        remedy = f"apt-get install {' '.join(found.missing)}"
        return Check(
            name, ok=False, found=f"without {', '.join(found.missing)}", remedy=remedy, needed=False
        )
    said = _try(name, lambda: f"{found.versions}; {source.debian_offer(cache)}")
    return replace(said, needed=False)


def _sandbox() -> Check:
    """Look whether kernels are built in a sandbox, which patches and sources of a user's need."""
    why_not = sandbox.why_not()
    found = "works" if why_not is None else why_not
    return Check("sandbox for building", why_not is None, found, sandbox.REMEDY, needed=False)


def _images() -> Check:
    """Look whether guests with services can be made, which only some studies need."""
    name = "guests with services"
    missing = image.missing_programs()
    if missing:
        packages = " ".join(sorted({image.PROGRAMS[one] for one in missing}))
        said, remedy = f"without {', '.join(missing)}", f"apt-get install {packages}"
        return Check(name, ok=False, found=said, remedy=remedy, needed=False)
    why_not = namespace.why_not()
    if why_not is not None:
        return Check(name, ok=False, found=why_not, remedy=namespace.REMEDY, needed=False)
    release = _try(name, lambda: f"can be made, of {host.release().title}")
    return replace(release, needed=False)


def _converting() -> Check:
    check = _program("qemu-img", "qemu-utils")
    said = check.found if check.ok else "missing; --image needs it for qcow2 alone"
    return replace(check, needed=False, found=said)


def _confined() -> Check:
    """Say what keeps QEMU from the host; it is no condition of measuring."""
    name = "QEMU kept apart"
    if process.found(QEMU) is None:
        return Check(name, ok=False, found="there is no QEMU", needed=False)
    filtered = bool(confined.sandbox_words(QEMU))
    user = "nobody" if confined.is_other_user(uses_kvm=False) else "this user"
    calls = "its system calls are filtered" if filtered else "its build can't filter system calls"
    remedy = "install a QEMU that is built with seccomp, as Debian's is"
    return Check(name, filtered, f"runs as {user}; {calls}", remedy, needed=False)


def _store() -> str:
    with Store(default_path()) as store:
        return str(store.path)


def _free(cache: Cache) -> Check:
    with cache.scratch() as folder:
        free = shutil.disk_usage(folder).free
    return Check(
        "free disk space",
        free >= _FREE_BYTES,
        f"{free / 2**30:.1f} GiB at {cache.root}",
        f"make room for {_FREE_BYTES >> 30} GiB, or set HARDCOST_CACHE",
    )


def _exact(machine: Machine) -> str:
    execution = until_done(machine.execute(Boot(), (), _LIMIT_SECONDS))
    return f"a guest booted; from restore to end {execution.host_seconds:.2f} s"


def _kvm(cache: Cache) -> Check:
    why_not = until_done(kvm_works(cache, None))
    found = "a guest booted under KVM" if why_not is None else f"{why_not}"
    remedy = (
        "without KVM `--instrument time` reads an emulator's times, and `hardcost bill` refuses to"
        " itemise them; `--instrument insn` needs no KVM"
    )
    return Check("instrument time (KVM)", why_not is None, found, remedy, needed=False)

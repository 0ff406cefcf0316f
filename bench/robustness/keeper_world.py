"""What the random orders of `keeper_orders.py` happen to: files, settings and a mount of their own.

All of it is seen by the keeper where a machine has it, and is only in this process's namespaces.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import secrets
import shutil
import signal
import stat
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Literal

import click

from hardcost.cli.command import hardcost
from hardcost.errors import HardcostError
from hardcost.host.process import run
from hardcost.machines.real import journal, probe_command
from hardcost.machines.real.changes import RunClaim, hold_changes
from hardcost.machines.real.host import HostReach
from hardcost.machines.real.keeper_messages import Replace, WantedState
from hardcost.machines.real.local_journal import place
from hardcost.protocol.ask import install, mount
from hardcost.protocol.requests import Make, Write
from hardcost.supply.programs import program_path

USERS = ("ann", "bob")
DESK = Path("/var/lib/hardcost")
UNITS = Path("/etc/systemd/system")
TREE = Path("/srv")
OWNED = TREE / "user/d.conf"
"""A file in a folder of a user's, who can put a link in the folder's place."""

MADE = TREE / "t/made/f"
FILES = (
    TREE / "t/a.conf",
    TREE / "t/b.conf",
    TREE / "open/c.conf",
    OWNED,
    TREE / "t/new/deep/n.conf",
    MADE,
)
FOLDERS = (TREE / "t/new", TREE / "t/new/deep", TREE / "t/made")
MOUNT = "/srv/m"
_SYS = "/proc/sys/"
_CONF = f"{_SYS}net/ipv4/conf/"
_EACH = ("all", "default", "lo")
ALIVE, LARGEST = f"{_SYS}net/ipv4/tcp_keepalive_time", f"{_SYS}kernel/msgmax"
FORWARD, FILTER = f"{_SYS}net/ipv4/ip_forward", f"{_CONF}all/rp_filter"
FORWARDS = (FORWARD, *(f"{_CONF}{one}/forwarding" for one in _EACH))
FILTERS = tuple(f"{_CONF}{one}/rp_filter" for one in _EACH)
SETTINGS = (ALIVE, LARGEST, *FORWARDS, *FILTERS)
CHANGED = (*map(str, FILES), MOUNT, ALIVE, LARGEST, FORWARD, FILTER)
"""What runs change."""

MOVED = {FORWARD: FORWARDS, FILTER: FILTERS}
"""Settings that others follow."""

_VICTIM, _ELSEWHERE = TREE / "victim", TREE / "elsewhere"
_LINKED = TREE / "user.real"
_STATE = TREE / "state"
_USER_ID = 1000
_SECONDS = 60.0
Who = Literal["hardcost", "keeper", "both", "all"]


def made(keeper: Path | None) -> None:
    """Make the world; `keeper` takes the place of the one that was built."""
    _mounted("/var/lib")
    _mounted(str(TREE))
    if UNITS.is_dir():
        _mounted(str(UNITS))
    if keeper is not None:
        _run("mount", "--bind", str(keeper), str(program_path(probe_command.KEEPER)))
    for folder in ("t", "open", "user", "m", "elsewhere", "state"):
        (TREE / folder).mkdir()
    (TREE / "open").chmod(0o1777)
    os.chown(TREE / "user", _USER_ID, _USER_ID)
    _mounted(MOUNT)
    boot("first")
    for path in FILES[:4]:
        path.write_text(f"before {path.name}\n")
        path.chmod(0o640)
    os.chown(OWNED, _USER_ID, _USER_ID)
    _VICTIM.write_text("no run may touch this\n")
    _VICTIM.chmod(0o600)
    os.chown(_VICTIM, _USER_ID, _USER_ID)
    for path, is_link in zip(FILES[:4], (False, True, False, True), strict=True):
        decoy = path.with_name(f"{path.name}.hardcost")
        decoy.symlink_to(_VICTIM) if is_link else decoy.write_text("a user's own\n")


def boot(name: str) -> None:
    """Have another boot run, by its id."""
    file = TREE / f"boot-{name}"
    file.write_text(f"{name}\n")
    _run("mount", "--bind", str(file), f"{_SYS}kernel/random/boot_id")


def observe() -> dict[str, str]:
    """Return what everything is now."""
    found = {str(path): _seen(_truly(path)) for path in FILES}
    found |= {path: Path(path).read_text().strip() for path in SETTINGS}
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    found[MOUNT] = [line.split()[5] for line in lines if line.split()[4] == MOUNT][-1]
    return found


def folders() -> set[Path]:
    """Return those folders that are there."""
    return {folder for folder in FOLDERS if folder.is_dir()}


def bystanders() -> list[str]:
    """Return what must never change or go: users' own files, and what links lead to."""
    decoys = [_truly(path).with_name(f"{path.name}.hardcost") for path in FILES[:4]]
    return [_seen(path) for path in (_VICTIM, *decoys, *sorted(_ELSEWHERE.iterdir()))]


def _truly(path: Path) -> Path:
    """Return where a file is, also while its folder is replaced by a link."""
    return _LINKED / path.name if path.parent == OWNED.parent and _LINKED.exists() else path


def _seen(path: Path) -> str:
    try:
        about = path.lstat()
    except FileNotFoundError:
        return "absent"
    what = str(path.readlink()) if stat.S_ISLNK(about.st_mode) else path.read_text()
    return f"{what!r} {about.st_mode:o} {about.st_uid}:{about.st_gid}"


def link() -> None:
    """Replace a user's folder by a link, to a file that has the same content."""
    OWNED.parent.rename(_LINKED)
    shutil.copy2(_truly(OWNED), _ELSEWHERE / OWNED.name)
    OWNED.parent.symlink_to(_ELSEWHERE)


def unlink() -> None:
    """Put the folder back."""
    OWNED.parent.unlink()
    (_ELSEWHERE / OWNED.name).unlink()
    _LINKED.rename(OWNED.parent)


def wanted(draw: random.Random, number: int, *, linked: bool) -> dict[str, str]:
    """Return what a run is to make of some things."""
    names = draw.sample(CHANGED, draw.randint(1, 5))
    values = {
        MOUNT: draw.choice(("noexec", "nosuid")),
        ALIVE: str(1000 + number),
        LARGEST: str(10000 + number),
        FORWARD: draw.choice("01"),
        FILTER: draw.choice("012"),
        str(MADE): "",
    }
    names = [name for name in names if not (linked and name == str(OWNED))]
    return {name: values.get(name, f"run {number}\n") for name in names}


def touched(names: Sequence[str]) -> set[str]:
    """Return what changing these may change."""
    return {one for name in names for one in MOVED.get(name, (name,))}


def is_value(name: str, value: str, seen: str) -> bool:
    """Return whether a thing was made that."""
    if name == MOUNT:
        return value in seen.split(",")
    if name == str(MADE):
        return seen != "absent"
    return seen.startswith(f"{value!r} ") if name.startswith(str(TREE)) else seen == value


def by_hand(draw: random.Random, number: int, *, unique: bool) -> str:
    """Change a thing as an administrator would; `unique`: to what it never was. Return its name."""
    few = () if unique else (*FORWARDS, *FILTERS)
    name = draw.choice((*map(str, FILES), MOUNT, ALIVE, LARGEST, *few))
    if name in few:
        set_to(name, draw.choice("01"))
    elif name in SETTINGS:
        set_to(name, str((5000 if name == ALIVE else 50000) + number))
    elif name == MOUNT:
        options = draw.sample(("nodev", "noatime", "nodiratime", "ro"), draw.randint(1, 3))
        plain = ("remount", "bind", "rw", "relatime", "exec", "suid", "dev")
        _run("mount", "-o", ",".join((*plain, *options)), MOUNT)
    else:
        path = _truly(Path(name))
        if path.exists() and draw.random() < 1 / 3:
            path.chmod(0o600 + number % 64)
        else:
            set_to(name, f"by hand {number}\n")
    return name


def set_to(name: str, value: str) -> None:
    """Give a thing a value by hand."""
    if name == MOUNT:
        _run("mount", "-o", f"remount,bind,{value}", MOUNT)
        return
    path = _truly(Path(name))
    if name not in SETTINGS:
        path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(value)


def reboot(values: dict[str, str], name: str) -> None:
    """Have settings and the mount be what they are after a boot, and the keeper's unit started."""
    boot(name)
    for _ in range(2):  # some move others
        for path in SETTINGS:
            Path(path).write_text(values[path])
    _run("umount", MOUNT)
    _run("mount", "-t", "tmpfs", "-o", values[MOUNT], "tmpfs", MOUNT)
    if (DESK / "journal").exists():
        # As its unit says; what it is called with was put there by the keeper.
        _run(str(DESK / probe_command.KEEPER), "attend", "60")


class Holder:
    """A process that changes things for a user, until it is ended."""

    def __init__(self, user: str, wanted: dict[str, str]) -> None:
        """Start it."""
        self.wanted = wanted
        (told, self._tell), (self._hear, say) = os.pipe(), os.pipe()
        self.process = forked(user, lambda: asyncio.run(_hold(_requests(wanted), told, say)))
        os.close(told)
        os.close(say)

    def is_held(self) -> bool:
        """Return, once it is so, whether all is changed; if not, the process has ended."""
        return bool(os.read(self._hear, 1))

    def finish(self) -> int:
        """Have it end, and return its status."""
        os.write(self._tell, b"end\n")
        return waited(self.process)

    def close(self) -> None:
        """End it at once, if it has not ended, and forget it."""
        with contextlib.suppress(ProcessLookupError, ChildProcessError):
            os.kill(self.process, signal.SIGKILL)
            os.waitpid(self.process, 0)
        os.close(self._tell)
        os.close(self._hear)


async def _hold(requests: Sequence[WantedState], told: int, say: int) -> None:
    ended = asyncio.Event()
    asyncio.get_running_loop().add_reader(told, ended.set)
    async with hold_changes(HostReach(), RunClaim(secrets.token_hex(8), requests, people=True)):
        os.write(say, b"h")
        await ended.wait()


def _requests(wanted: dict[str, str]) -> list[WantedState]:
    found: list[WantedState] = []
    for name, value in wanted.items():
        if name == MOUNT:
            found.append(mount(name, [value]))
        elif name in SETTINGS:
            found.append(Write(path=name, value=value))
        elif name == str(MADE):
            found.append(Make(directories=(str(MADE.parent),), files=(name,)))
        else:
            found.append(Replace(path=name, base64=install(name, value).base64))
    return found


def forked(user: str, does: Callable[[], None]) -> int:
    """Do something in a process of a user's, and return that; what it says goes to a file."""
    process = os.fork()
    if process:
        return process
    status = 9
    try:
        os.environ["XDG_STATE_HOME"] = str(_STATE / user)
        said = os.open(_STATE / "said", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(said, 1)
        os.dup2(said, 2)
        does()
        status = 0
    except click.exceptions.Exit as error:
        status = error.exit_code
    except HardcostError as error:
        print(error, file=sys.stderr)
        status = error.exit_status
    except BaseException:  # noqa: BLE001  (it is a process of its own)
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


def waited(process: int) -> int:
    """Return a process's status once it has ended."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def restoring(user: str, *, force: bool = False) -> int:
    """Start `hardcost restore` of a user's, and return its process."""
    words = ["restore", "host", "--yes", *(["--force"] if force else [])]

    def restore() -> None:
        raise click.exceptions.Exit(hardcost.main(words, standalone_mode=False) or 0)

    return forked(user, restore)


def said() -> str:
    """Return what was said last."""
    return (_STATE / "said").read_text(errors="replace")


def book(user: str) -> Path:
    """Return the file of a user's own journal."""
    before = os.environ.get("XDG_STATE_HOME")
    os.environ["XDG_STATE_HOME"] = str(_STATE / user)
    try:
        return place("host")
    finally:
        os.environ.pop("XDG_STATE_HOME")
        os.environ |= {"XDG_STATE_HOME": before} if before else {}


def is_kept(user: str) -> bool:
    """Return whether a user has the journal that the machine has open, and not an older one."""
    ours, theirs = open_journal(), book(user)
    if ours is None or not theirs.exists():
        return False
    return journal.read(theirs.read_bytes(), str(theirs)).entries[:1] == ours.entries[:1]


def keepers(verb: str = "") -> list[int]:
    """Return the processes of keepers; only those that do something, if that is named."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            words = (entry / "cmdline").read_text().split("\0")
            if (entry / "exe").readlink().name == probe_command.KEEPER and verb in {"", words[1]}:
                found.append(int(entry.name))
    return found


def wait_for_keeper(process: int, seconds: float) -> None:
    """Wait until a keeper runs, or the process that starts it has ended, and so many seconds."""
    until = time.monotonic() + _SECONDS
    while not keepers() and time.monotonic() < until:
        if os.waitid(os.P_PID, process, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None:
            return
    time.sleep(seconds)


def kill(who: Who, process: int) -> None:
    """Kill hardcost, its keeper, that and its guard, or all; then wait until no keeper is left."""
    if who != "hardcost":
        # The guard first: the other order is another kind, in which it restores the machine.
        verbs = ("hold", "restore") if who == "keeper" else ("guard", "hold", "restore")
        again = True
        while again:
            again = False
            for each in (one for verb in verbs for one in keepers(verb)):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(each, signal.SIGKILL)
                    again = who != "keeper"
    if who in {"hardcost", "all"}:
        with contextlib.suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    until = time.monotonic() + _SECONDS
    while keepers() and time.monotonic() < until:
        time.sleep(0.005)


def open_journal() -> journal.Journal | None:
    """Return the journal that the machine has open."""
    path = DESK / "journal"
    return journal.read(path.read_bytes(), str(path)) if path.exists() else None


def left(found: journal.Journal) -> set[str]:
    """Return what a journal says that others have changed."""
    numbers = {one.number for one in found.entries if isinstance(one, journal.LeftEntry)}
    return {one.name for number, one in found.pending if number in numbers}


def leftovers() -> list[str]:
    """Return what only an open journal may leave: files of the keeper's, half-written ones."""
    found = [*UNITS.glob("*hardcost*"), *UNITS.glob("*/*hardcost*")] if UNITS.is_dir() else []
    found += [*DESK.glob("journal"), *DESK.glob(probe_command.KEEPER), *DESK.glob("rules")]
    return [str(path) for path in (*found, *TREE.rglob(".hardcost-*"), *DESK.glob(".*"))]


def _mounted(path: str) -> None:
    _run("mount", "-t", "tmpfs", "tmpfs", path)


def _run(*words: str) -> None:
    run(words)

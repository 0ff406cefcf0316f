"""What the tests that boot guests share: the command itself, a store of its own for each test.

Kernels, guests and snapshots come from the user's ordinary cache, so that they are made once.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from hardcost.machines.vm.boot_kernel import debian_kernel
from hardcost.supply.cache.cache import Cache
from hardcost.supply.cache.location import default_root
from hardcost.supply.kernels.source import debian_source
from hardcost.supply.packages.debian import version
from tests.studies import of_rules

COMMAND = (sys.executable, "-c", "from hardcost.cli.main import main; main()")
LIMIT_SECONDS = 900  # of a command; longer than any takes on a busy machine: a hang is a failure
BUILD_LIMIT_SECONDS = 3000  # of a command that builds a kernel
DEATH_SECONDS = 5.0  # until all that a killed process started must have gone, on a busy machine

RULES = Path(__file__).with_name("rules.toml").read_text()
"""A study of 19 configurations, as large as the ready-made ones, for which nothing is built."""


@dataclass(frozen=True)
class Outcome:
    """What a command printed, and its exit status."""

    status: int
    out: str
    err: str

    def data(self) -> Any:  # noqa: ANN401  (JSON)
        """Return what it printed as JSON."""
        return json.loads(self.out)

    def cells(self) -> dict[tuple[str, str], dict[str, Any]]:
        """Return a run's cells by configuration and metric."""
        return {(cell["configuration"], cell["metric"]): cell for cell in self.data()["cells"]}

    def values(self, metric: str) -> dict[str, float]:
        """Return a metric's value by configuration."""
        return {name: cell["value"] for (name, of), cell in self.cells().items() if of == metric}

    def raw_cells(self) -> str:
        """Return the bytes of `cells` as they were printed."""
        start = self.out.index('"cells"')
        return self.out[start : self.out.index('"notes"', start)]


@dataclass(frozen=True)
class Command:
    """The command `hardcost` with a store and, where it matters, a cache of its own."""

    folder: Path
    cache: Path
    extra: Mapping[str, str] = field(default_factory=dict)
    limit_seconds: float = LIMIT_SECONDS

    @property
    def store(self) -> Path:
        """The store that it writes to."""
        return self.folder / "store" / "runs.sqlite"

    @property
    def environment(self) -> dict[str, str]:
        """The environment in which it runs."""
        own = {"HARDCOST_CACHE": str(self.cache), "HARDCOST_STORE": str(self.store)}
        return {**os.environ, **own, **self.extra}

    def start(self, *words: str, under: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        """Start it; `under` is a command that runs it."""
        return subprocess.Popen(
            [*under, *COMMAND, *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            cwd=self.folder,
            env=self.environment,
        )

    def end(self, process: subprocess.Popen[str]) -> Outcome:
        """Wait until it has ended; a hang fails the test and ends it."""
        try:
            out, err = process.communicate(timeout=self.limit_seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
            pytest.fail(f"it hangs: {process.args!r}\n{err}")
        assert "Traceback" not in err, err
        assert "Exception ignored" not in err, err
        return Outcome(process.returncode, out, err)

    def __call__(self, *words: str, status: int = 0) -> Outcome:
        """Run it to its end and check its exit status."""
        outcome = self.end(self.start(*words))
        assert outcome.status == status, outcome.err
        return outcome

    def write(self, name: str, content: str | bytes) -> str:
        """Write a file beside which it runs, and return its name."""
        data = content.encode() if isinstance(content, str) else content
        (self.folder / name).write_bytes(data)
        return name

    def guests(self, process: subprocess.Popen[str]) -> list[int]:
        """Return the processes that a running or killed command started, by what they work on."""
        return [pid for pid, line in _processes() if f"{self.cache}/scratch/{process.pid}-" in line]

    def await_guest(self, process: subprocess.Popen[str]) -> int:
        """Return the process id of the command's guest once it has one."""
        until = time.monotonic() + LIMIT_SECONDS
        while not (found := self.guests(process)):
            assert process.poll() is None, "it ended without a guest"
            assert time.monotonic() < until, "no guest came"
            time.sleep(0.02)
        return found[0]

    def outlived(self, process: subprocess.Popen[str]) -> list[int]:
        """Return what is still there of a dead command after its guests have had time to go."""
        until = time.monotonic() + DEATH_SECONDS
        while (found := self.guests(process)) and time.monotonic() < until:
            time.sleep(0.02)
        return found


def bring_qemu(hardcost: Command) -> str:
    """Return the name of Debian 13's QEMU, which is fetched where the cache lacks it.

    Where the version that was tried is gone, the newest is taken, and a warning says so.
    """
    study = hardcost.write("bring.toml", of_rules("a QEMU", "null", (0,)))
    words = ("run", study, "--dry-run", "--qemu")
    outcome = hardcost.end(hardcost.start(*words, "debian:13"))
    if outcome.status == 0:
        return "debian:13"
    found = re.search(r"`--qemu (debian:13=\S+)`", outcome.err)
    assert found is not None, outcome.err
    warnings.warn(f"the QEMU that was tried is gone; this is {found[1]}", stacklevel=2)
    hardcost(*words, found[1])
    return found[1]


def _processes() -> Iterator[tuple[int, str]]:
    """Yield every process with its command line, its words separated by spaces."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            with contextlib.suppress(OSError):
                words = (folder / "cmdline").read_bytes().split(b"\0")
                yield int(folder.name), os.fsdecode(b" ".join(words))


@pytest.fixture(scope="session")
def cache_root() -> Path:
    """Return the user's ordinary cache."""
    return default_root().absolute()


@pytest.fixture
def hardcost(tmp_path: Path, cache_root: Path) -> Command:
    """Return the command with a store of its own and the ordinary cache."""
    return Command(tmp_path, cache_root)


@pytest.fixture(scope="session")
def read_for(cache_root: Path) -> None:
    """Skip where the guest has another auditctl or kernel than those that rules are read for."""
    cache = Cache(cache_root)
    audit, kernel = version(cache, "auditd"), debian_kernel(cache).release
    if not (audit.startswith("1:3.0.9-") and kernel.startswith("6.1.")):
        pytest.skip(
            "rules are read as auditctl 3.0.9 and Linux 6.1 take them, which are Debian 12's;"
            f" this guest has auditd {audit} and Linux {kernel}"
        )


@pytest.fixture(scope="session")
def linux_source(cache_root: Path) -> Path:
    """Return Linux's source in the ordinary cache, unpacked."""
    return debian_source(Cache(cache_root)).folder


@pytest.fixture(scope="session")
def lean(tmp_path_factory: pytest.TempPathFactory, cache_root: Path) -> Outcome:
    """Return what building the lean kernel prints; the only kernel that tests build whole."""
    command = Command(
        tmp_path_factory.mktemp("lean"), cache_root, limit_seconds=BUILD_LIMIT_SECONDS
    )
    return command("kernel", "build", "--format", "json")


@pytest.fixture(scope="session")
def flat(lean: Outcome, tmp_path_factory: pytest.TempPathFactory, cache_root: Path) -> Outcome:
    """Return what building the lean kernel with the series `flat` prints: little is compiled."""
    assert lean.status == 0
    command = Command(
        tmp_path_factory.mktemp("flat"), cache_root, limit_seconds=BUILD_LIMIT_SECONDS
    )
    return command("kernel", "build", "--patch", "flat", "--format", "json")


@pytest.fixture
def apart_folder(tmp_path: Path, cache_root: Path) -> Iterator[Path]:
    """Yield a folder on the file system of the ordinary cache, so that its files can be linked.

    Where /tmp is another file system, often one in memory, a copy would fill it.
    """
    if tmp_path.stat().st_dev == cache_root.stat().st_dev:
        yield tmp_path
        return
    with tempfile.TemporaryDirectory(prefix="hardcost-test-", dir=cache_root.parent) as folder:
        yield Path(folder)


@pytest.fixture
def hardcost_apart(apart_folder: Path, hardcost: Command) -> Command:
    """Return the command with a cache of its own: only what every boot of a guest needs."""
    hardcost("run", hardcost.write("rules.toml", RULES), "--dry-run")
    own = apart_folder / "cache"
    for kind in ("packages", "kernels", "guests"):
        if (hardcost.cache / kind).is_dir():
            share(hardcost.cache / kind, own / kind, "modules", "linux-source-*")
    return Command(apart_folder, own)


def share(kind: Path, to: Path, *unused: str) -> None:
    """Give a cache the entries of another's, but for what is `unused`, and what is being made.

    Their files are linked where that is possible; a folder that is a link is not used.
    """
    left_out, being_made = shutil.ignore_patterns(*unused), shutil.ignore_patterns(".*")

    def ignored(folder: str, names: list[str]) -> set[str]:
        made = being_made(folder, names) if Path(folder) == kind else set()
        return {*left_out(folder, names), *made}

    shutil.copytree(kind, to, ignore=ignored, copy_function=_link, symlinks=True)


def _link(source: str, target: str) -> None:
    """Link a file where that is possible, and copy it where it is not."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


@pytest.fixture(scope="session")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], bytes]:
    """Return the function that makes a static program out of C."""
    folder = tmp_path_factory.mktemp("programs")

    def compile_static(source: str) -> bytes:
        (folder / "program.c").write_text(source)
        words = ["cc", "-static", "-O1", "-o", "program", "program.c"]
        subprocess.run(words, cwd=folder, check=True)
        return (folder / "program").read_bytes()

    return compile_static

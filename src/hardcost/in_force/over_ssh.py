"""What is looked at on another machine, fetched by one command over one connection of ssh."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib import resources

from hardcost.errors import MachineError
from hardcost.in_force.calls import Sample, counting_script
from hardcost.in_force.files import MachineFiles
from hardcost.in_force.sysctls import listed_sysctls
from hardcost.machines.real.ssh import output_of_script

_SECONDS = 60.0


@dataclass
class FetchedFiles(MachineFiles):
    """The files of another machine that runs, as its shell sent them.

    `contents` are by path, `commands` what programs printed by their words, joined by blanks, and
    `failures` what those said that failed.
    """

    user: int = 0
    host: str = ""
    contents: Mapping[str, str] = field(default_factory=dict)
    commands: Mapping[str, str] = field(default_factory=dict)
    failures: Mapping[str, str] = field(default_factory=dict)
    running: frozenset[str] = frozenset()
    counted: str = ""

    @property
    def is_root(self) -> bool:
        """Whether root asked."""
        return self.user == 0

    @property
    def is_here(self) -> bool:
        """Whether it is the machine that runs this; it is not."""
        return False

    @property
    def name(self) -> str:
        """What it calls itself."""
        return self.host

    def text(self, path: str) -> str | None:
        """Return the content of a file; None if it was not sent."""
        return self.contents.get(path)

    def names(self, folder: str) -> tuple[str, ...]:
        """Return the sorted names of the files of a folder that were sent."""
        start = f"{folder.rstrip('/')}/"
        inside = (one.removeprefix(start) for one in self.contents if one.startswith(start))
        return tuple(sorted(one for one in inside if "/" not in one))

    def exists(self, path: str) -> bool:
        """Say whether a file was sent."""
        return path in self.contents

    def processes(self) -> frozenset[str]:
        """Return the names of the processes."""
        return self.running

    def output(self, *words: str) -> str | None:
        """Return what a program printed; None if there was none.

        Raises:
            MachineError: It failed there.
        """
        name = " ".join(words)
        if name in self.failures:
            raise MachineError(f"{name} failed: {self.failures[name].strip()}")
        return self.commands.get(name)

    def count_calls(self, sample: Sample) -> str:  # noqa: ARG002  (it was asked for before)
        """Return what was counted there, while it was looked at."""
        return self.counted

    def link(self, path: str) -> str | None:  # noqa: ARG002  (links are followed there)
        """Return that there is none."""
        return None


async def fetch(address: str, sample: Sample | None = None) -> FetchedFiles:
    """Return what is looked at on the machine at an address; calls are counted if wanted.

    Raises:
        InputError: It is no address.
        MachineError: The machine can't be reached, or its answer can't be read.
    """
    look = resources.files("hardcost.in_force").joinpath("look.sh").read_text("utf-8")
    script = f"{counting_script()}\n{look}"
    paths = " ".join(sorted({one.path for one in listed_sysctls().values()}))
    words = () if sample is None else sample.words
    limit = _SECONDS + (0 if sample is None else sample.seconds)
    answer = await output_of_script(address, script, (paths, *words), limit)
    try:
        return parsed(answer)
    except (ValueError, KeyError):
        raise MachineError(
            f"ssh:{address}: what came is not what was asked for",
            hint="a start-up file of its shell may print something: try `ssh HOST true`",
        ) from None


def parsed(answer: bytes) -> FetchedFiles:
    """Return what the lines of `look.sh` say.

    Raises:
        ValueError: A line is none of them; or a KeyError.
    """
    found: dict[str, list[tuple[str, ...]]] = {}
    for kind, *values in _lines(answer):
        found.setdefault(kind, []).append(tuple(values))
    ((user,),) = found.get("user", [("",)])
    ((host,),) = found.get("name", [("",)])
    running = " ".join(*found.get("processes", [("",)]))
    return FetchedFiles(
        denied=[_decoded(path) for (path,) in found.get("denied", [])],
        user=int(user),
        host=_decoded(host).strip(),
        contents={_decoded(path): _decoded(text) for path, text in found.get("file", [])},
        commands={_decoded(words): _decoded(text) for words, text in found.get("command", [])},
        failures={_decoded(words): _decoded(text) for words, text in found.get("failed", [])},
        running=frozenset(_decoded(running).split("\n")),
        counted="".join(_decoded(text) for (text,) in found.get("calls", [])),
    )


def _lines(answer: bytes) -> Iterator[list[str]]:
    """Yield the words of each line: a kind, and one or two values, which may be empty."""
    for line in answer.decode("ascii").splitlines():
        kind, *values = line.split(" ")
        if len(values) != _VALUES[kind]:
            raise ValueError(line)
        yield [kind, *values]


_VALUES = {
    **dict.fromkeys(("user", "name", "denied", "processes", "calls"), 1),
    **dict.fromkeys(("file", "command", "failed"), 2),
}


def _decoded(text: str) -> str:
    return base64.b64decode(text, validate=True).decode("utf-8", "surrogateescape")

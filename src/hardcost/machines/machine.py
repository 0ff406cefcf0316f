"""The interface of machines: a machine boots a state and carries out a job.

Nothing above `machines/` knows more of a machine than this, and `names.py` alone knows which there
are. What a machine can't do it says in its `Capabilities`; no caller asks which machine it is.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from auditrules.model.location import Location
from hardcost.protocol.answers import Answer
from hardcost.protocol.boot import Boot, BootAccount, Guest, Init, KernelRecipe, Relations
from hardcost.protocol.plugin.stacks import Stacks
from hardcost.protocol.requests import Request
from hardcost.supply.transfer import Builder, Order


@dataclass(frozen=True)
class Execution:
    """A job, carried out.

    `start_seconds` of host time passed until the guest ran the job's first instruction,
    `host_seconds` in all. `console` is the end of the console log, as text. `stacks` is what was
    seen of a boot that is counted by function, `source` the text of lines that are counted.
    `surroundings` is what went on beside the job on a machine that
    others use too, by name.
    """

    answers: tuple[Answer, ...]
    console: str
    start_seconds: float
    host_seconds: float
    stacks: Stacks | None = None
    surroundings: Mapping[str, float] = field(default_factory=dict)
    source: Mapping[Location, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Capabilities:
    """The abilities of a machine; a trial that needs more is refused before anything runs.

    `parameters`: it boots with words on its kernel's command line; `kernels`: it boots kernels
    other than its own, and builds them; `installed`: it boots those that are installed on it;
    `layouts`: it repeats a memory layout by its seed; `fresh`: it boots for each trial;
    `by_function`: it sees which functions execute how much. `requests` are those that it carries
    out, by their names; None: all of the probe's. It would carry out those in `with_yes`, too, if
    the user said so. `at_once` trials are carried out at a time; None: as many as the user wants.
    `builds_at_once` kernels are built at a time; None: it is given all, and holds back what it has
    no room for. One trial may use so many `processors`, and they take turns with others, `in_turn`
    in all, where a machine has fewer than it shows.
    """

    instruments: frozenset[str]
    guests: frozenset[Guest] = frozenset({"small", "compiler", "debian"})
    inits: frozenset[Init] = frozenset({"probe", "systemd"})
    parameters: bool = True
    kernels: bool = True
    installed: bool = False
    layouts: bool = True
    fresh: bool = True
    by_function: bool = False
    requests: frozenset[str] | None = None
    with_yes: frozenset[str] = frozenset()
    at_once: int | None = None
    builds_at_once: int | None = 1
    processors: int = 1
    in_turn: int = 1


@dataclass(frozen=True)
class Earlier:
    """How many seconds set-up took on a machine before, the newest last.

    `boots` by guest; `builds` of kernels, each with its steps; `begun`: a kernel's source lies
    compiled, so that the next build goes on from there.
    """

    boots: Mapping[Guest, Sequence[float]] = field(default_factory=dict)
    builds: Sequence[tuple[float, int]] = ()
    begun: bool = False


class Machine(Protocol):
    """Where trials run."""

    name: str

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks on all its numbers, as far as they are known."""
        ...

    @property
    def capabilities(self) -> Capabilities:
        """Its abilities."""
        ...

    def fetch(self, boots: Sequence[Boot], note: Callable[[str], None]) -> None:
        """Fetch the missing supplies of these boots; `note` hears of long work.

        Raises:
            InputError: Something that the user brings, such as a root, can't be used.
            MachineError: It can't be had.
        """
        ...

    def environment(self, boot: Boot) -> dict[str, str]:
        """Return the facts that a result names: versions, models, the host."""
        ...

    def identity(self, boot: Boot) -> dict[str, str]:
        """Return all that could change a job's samples here, but the job itself."""
        ...

    def kernel_identity(self) -> dict[str, str]:
        """Return the facts that decide what its own kernel executes for a system call."""
        ...

    def kernel_name(self, boot: Boot) -> str:
        """Return a name of the kernel that boots: the same for two recipes of one kernel."""
        ...

    def configuration(self, boot: Boot) -> Mapping[str, str] | None:
        """Return the options of the kernel that is built for a boot; None if none is built."""
        ...

    def relations(self, recipe: KernelRecipe) -> Relations:
        """Return the effects of a recipe's options on its base.

        Raises:
            InputError: There is no such base, or the options exclude each other.
            MachineError: Kernels can't be built here.
        """
        ...

    def packages(self, boot: Boot) -> Mapping[str, str]:
        """Return the version of each distribution's package that the guest holds, by name."""
        ...

    def notes(self, boot: Boot) -> tuple[str, ...]:
        """Return notes on a state, such as options that did not come out.

        Raises:
            InputError: The state can't be had: options that exclude each other, say.
        """
        ...

    def earlier(self) -> Earlier:
        """Return how long set-up took here before."""
        ...

    async def account(self, boot: Boot) -> BootAccount | None:
        """Return the kernel's verdicts on a boot's parameters; None while the kernel isn't built.

        Raises:
            MachineError: A guest does not boot with them.
        """
        ...

    def builds(self, boot: Boot) -> tuple[str, ...]:
        """Return the names of the kernels that have to be built for a boot and are not here."""
        ...

    def is_ready(self, boot: Boot) -> bool:
        """Say whether `make_ready` has been done for a boot: its kernel built, its snapshot taken.

        Of a boot that needs neither it is true.
        """
        ...

    async def make_ready(self, boot: Boot) -> None:
        """Do the slow part once (build, boot, snapshot), so that `execute` is fast.

        Raises:
            MachineError: The machine does not start.
        """
        ...

    async def built_by(self, boot: Boot, builder: Builder) -> None:
        """Have `builder` build the kernel of a boot, unless it is here; check and keep it.

        Raises:
            MachineError: The build fails, or what comes is not that kernel.
        """
        ...

    def order(self, boot: Boot) -> Order:
        """Return the order by which another host carries out jobs in that state, once it is ready.

        Raises:
            MachineError: Something that guests are made of is missing.
        """
        ...

    async def execute(self, boot: Boot, job: Sequence[Request], limit_seconds: float) -> Execution:
        """Carry out `job` in a fresh machine in the state that `boot` describes.

        Raises:
            TrialError: The guest panicked, hung, died, or what it answered is no answer.
        """
        ...

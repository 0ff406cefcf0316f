"""A machine that computes its answers: for tests of all that runs above machines.

As `--machine fake` it is a simulated guest (`guest.py`), which no list shows. What boots with
the parameter `fake=WORD` behaves badly: `fail` (the guest dies in its job), `hang` (it
goes on until its time limit), `slow` (a trial takes 100 s of a clock that only the fake has),
`pause` (a trial takes half a second of the host's clock), `unbootable`, `interrupt` (the user
presses Ctrl-C).
"""

from __future__ import annotations

import asyncio
import math
import os
import signal
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from hardcost.errors import MachineError, TrialError
from hardcost.machines.check import Check
from hardcost.machines.machine import Capabilities, Earlier, Execution
from hardcost.machines.options import MachineOptions
from hardcost.machines.restoration import Restored
from hardcost.protocol.answers import Answer
from hardcost.protocol.boot import Boot, BootAccount, KernelRecipe, Relations
from hardcost.protocol.plugin.lines import add_first_line
from hardcost.protocol.requests import Request
from hardcost.supply.cache.cache import Cache, digest
from hardcost.supply.progress import Listener
from hardcost.supply.transfer import Builder, Order, Supply, supply_of
from tests.fakes import guest

_BEHAVIOUR = "fake="
_SLOW_SECONDS = 100.0
_PAUSE_SECONDS = 0.5
_KERNEL = "vmlinux"
_FOUND = "a machine for tests, which computes its answers"
_CONSOLE = (
    "[    1.000000] a line of the log\n[    2.000000] Kernel panic - not syncing: asked for\n"
)


class FakeMachine:
    """A machine whose answers are what `answer` makes of a boot and a job.

    `answer` may raise what a real machine raises. `started` lists the boots in their order;
    `most_at_once` is the largest number of jobs that ran at one time. `account` makes what a kernel
    says of a boot; without it nothing is amiss. `asked` lists the boots that it was asked about.
    """

    name = "fake"

    def __init__(
        self,
        answer: Callable[[Boot, Sequence[Request]], Sequence[Answer]],
        account: Callable[[Boot], BootAccount | None] = lambda _: BootAccount(),
        *,
        remarks: tuple[str, ...] = (),
        capabilities: Capabilities = Capabilities(  # noqa: B008  (frozen)
            frozenset({"insn", "time"}), by_function=True
        ),
    ) -> None:
        """Keep the functions."""
        self.remarks = remarks
        self.capabilities = capabilities
        self._answer = answer
        self._account = account
        self._ready: set[Boot | KernelRecipe] = set()
        self.asked: list[Boot] = []
        self._running = 0
        self.started: list[Boot] = []
        self.most_at_once = 0

    def fetch(self, boots: Sequence[Boot], note: Callable[[str], None]) -> None:
        """Fetch nothing: it is all here."""

    def environment(self, boot: Boot) -> dict[str, str]:
        """Return that it is a fake, in the places where reports look."""
        kernel = boot.shipped or "none"
        return {"qemu": "none", "kernel": kernel, "cpu_model": "none", "host": "fake"}

    def identity(self, boot: Boot) -> dict[str, str]:
        """Return what distinguishes its trials."""
        apart = {"profiled": "yes"} if boot.by_function else {}
        apart |= {"traced": "yes"} if boot.traced else {}
        apart |= {"lines": boot.lines} if boot.lines else {}
        apart |= {"shipped": boot.shipped} if boot.shipped is not None else {}
        return {"machine": self.name, "boot": repr(boot), **apart}

    def kernel_identity(self) -> dict[str, str]:
        """Return what distinguishes its kernel from all others."""
        return {"machine": self.name}

    def kernel_name(self, boot: Boot) -> str:
        """Return the recipe itself, or the name of what is shipped."""
        return boot.shipped or repr(boot.kernel)

    def configuration(self, boot: Boot) -> Mapping[str, str] | None:
        """Return the options of the recipe: each comes out."""
        return None if boot.kernel is None else dict(boot.kernel.options)

    def relations(self, recipe: KernelRecipe) -> Relations:
        """Return that each option changes the kernel, and needs no other."""
        options = tuple(dict(recipe.options).items())
        return Relations(options, (), (), {name: frozenset() for name, _ in options})

    def packages(self, boot: Boot) -> dict[str, str]:  # noqa: ARG002  (the interface's)
        """Return that there are none."""
        return {}

    def notes(self, boot: Boot) -> tuple[str, ...]:  # noqa: ARG002  (the interface's)
        """Return that there is nothing to know."""
        return ()

    def earlier(self) -> Earlier:
        """Return that every boot takes a second, and every kernel's build ten."""
        return Earlier(
            boots={"small": [1.0] * 9, "compiler": [1.0] * 9, "debian": [1.0] * 9},
            builds=[(10.0, 10)] * 9,
            begun=True,
        )

    async def account(self, boot: Boot) -> BootAccount | None:
        """Return what the kernel says."""
        self.asked.append(boot)
        _check_boots(boot)
        return self._account(boot)

    def builds(self, boot: Boot) -> tuple[str, ...]:
        """Return the kernel that was not made ready."""
        lacks = boot.kernel is not None and not self.is_ready(boot)
        return (self.kernel_name(boot),) if lacks else ()

    def is_ready(self, boot: Boot) -> bool:
        """Say whether it was made ready; what boots on a kernel that is built, is."""
        return (boot.kernel or boot) in self._ready

    async def make_ready(self, boot: Boot) -> None:
        """Be ready at once."""
        _check_boots(boot)
        self._ready.add(boot.kernel or boot)

    async def built_by(self, boot: Boot, builder: Builder) -> None:
        """Have another host build a kernel, whose file says of what it was built."""
        order = Order(self.name, boot, (("kernel", self.kernel_name(boot)),))
        with tempfile.TemporaryDirectory() as folder:
            await builder(order, Path(folder))
            if (Path(folder) / _KERNEL).read_text() != self.kernel_name(boot):
                raise MachineError("the kernel that came is not the one asked for")
        self._ready.add(boot.kernel or boot)

    def order(self, boot: Boot) -> Order:
        """Return that nothing is needed beside the boot."""
        return Order(self.name, boot, tuple(self.identity(boot).items()))

    async def execute(self, boot: Boot, job: Sequence[Request], limit_seconds: float) -> Execution:
        """Return the computed answers, within the time limit."""
        self.started.append(boot)
        self._running += 1
        self.most_at_once = max(self.most_at_once, self._running)
        try:
            async with asyncio.timeout(limit_seconds):
                await asyncio.sleep(0)
                await _misbehave(_behaviour(boot), limit_seconds)
                answers = tuple(self._answer(boot, job))
                seen = guest.stacks(job, answers) if boot.by_function else None
                found = guest.lines(boot)
                return Execution(
                    answers, "", 0.0, 0.0, add_first_line(seen, found), source=found.source
                )
        finally:
            self._running -= 1


def check(wanted: MachineOptions) -> None:
    """Find everything right: it needs nothing of this host."""


async def make(wanted: MachineOptions, listener: Listener) -> FakeMachine:  # noqa: ARG001  (any maker's)
    """Return the machine with the simulated guest."""
    remarks = ("these numbers are computed by a machine for tests: they measure nothing",)
    return FakeMachine(guest.answers, guest.account, remarks=remarks)


def facts() -> dict[str, str]:
    """Return that nothing of this host matters."""
    return {}


def supplied(order: Order, files: Mapping[str, Path], cache: Cache) -> FakeMachine:  # noqa: ARG001  (any maker's)
    """Return the machine with the simulated guest, which needs nothing."""
    return FakeMachine(guest.answers, guest.account)


def build_facts() -> dict[str, str]:
    """Return that nothing of this host matters."""
    return {}


def check_builder() -> None:
    """Find that nothing is missing."""


async def built(
    order: Order,
    files: Mapping[str, Path],  # noqa: ARG001  (any maker's)
    cache: Cache,
    jobs: int,  # noqa: ARG001  (any maker's)
) -> tuple[Supply, ...]:
    """Return a file that says of what the kernel was built; it takes as long as the boot asks for.

    Raises:
        MachineError: The boot asks for that.
    """
    await _misbehave(_behaviour(order.boot), math.inf)
    text = dict(order.identity)["kernel"]
    folder = cache.make(
        "kernels", digest({"fake": text}), "a fake", lambda at: _write(at / _KERNEL, text)
    )
    return (supply_of(folder / _KERNEL, _KERNEL, cache.root),)


def _write(path: Path, text: str) -> None:
    path.write_text(text)


async def restore(_address: str, *, force: bool, people: bool) -> Restored:  # noqa: ARG001  (any restorer's)
    """Say that nothing is left: it is never changed."""
    return Restored(0, ())


def examine(_cache: Cache, _wanted: MachineOptions) -> Sequence[Check]:
    """Find everything here: it needs nothing of this host."""
    return ()


async def try_out(_cache: Cache, _wanted: MachineOptions) -> Sequence[Check]:
    """Return that both instruments read it."""
    return tuple(Check(f"instrument {name}", ok=True, found=_FOUND) for name in ("insn", "time"))


def _behaviour(boot: Boot) -> str | None:
    """Return how a boot misbehaves; None: not at all."""
    found = [word for word in boot.parameters if word.startswith(_BEHAVIOUR)]
    return found[-1].removeprefix(_BEHAVIOUR) if found else None


def _check_boots(boot: Boot) -> None:
    """Check that a boot is not meant to fail.

    Raises:
        MachineError: It is.
    """
    if _behaviour(boot) == "unbootable":
        raise MachineError("the guest did not boot", console=_CONSOLE)


async def _misbehave(behaviour: str | None, limit_seconds: float) -> None:
    """Do what a boot asks for beside its job.

    Raises:
        TrialError: The guest died, or took longer than its limit.
    """
    if behaviour == "fail":
        raise TrialError("the guest panicked", console=_CONSOLE)
    takes_longer = behaviour == "slow" and limit_seconds < _SLOW_SECONDS
    if behaviour == "hang" or takes_longer:
        raise TrialError(f"the trial did not end within {limit_seconds:.0f} s", console=_CONSOLE)
    if behaviour == "pause":
        await asyncio.sleep(_PAUSE_SECONDS)
    if behaviour == "interrupt":
        os.kill(os.getpid(), signal.SIGINT)
        await asyncio.sleep(limit_seconds)

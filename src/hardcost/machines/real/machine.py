"""A machine that is there already: this host, or one over ssh.

The probe runs there as a child and speaks over its standard streams. What changes the machine the
keeper does, for as long as a trial takes (`changes.py`); on a machine that is not to be changed, it
is refused before anything starts.
"""

from __future__ import annotations

import functools
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from hardcost.errors import InputError, MachineError, TrialError
from hardcost.machines.machine import Capabilities, Earlier, Execution
from hardcost.machines.real import batch_size, changes, interference, probe_command, selinux
from hardcost.machines.real.boot import Wished, boot_with_parameters
from hardcost.machines.real.facts import HostFacts, questions, read
from hardcost.machines.real.journal import JournalChange
from hardcost.machines.real.keeper_messages import (
    CHANGES,
    Done,
    UnitAnswer,
    WantedState,
    wanted_states,
)
from hardcost.machines.real.keeper_session import Keeps, UnfitError
from hardcost.machines.real.probe_session import converse
from hardcost.machines.real.restore import lock_machine
from hardcost.protocol.answers import Answer, CallAnswer, InstalledAnswer, WrittenAnswer, all_of
from hardcost.protocol.boot import INSTALLED, Boot, BootAccount, KernelRecipe, Relations
from hardcost.protocol.requests import Command, Install, MeasureCalls, Request
from hardcost.supply.transfer import Builder, Order

_REQUESTS = frozenset({"calls", "command", "install", "perturb", "read"})
_FACTS_SECONDS = 60.0
_MONOTONIC = 1e9  # ticks of that clock in a second
_RULES = "audit rules"  # the name under which the keeper knows them
_REPLACED = (
    "the machine has audit rules of its own: they stay loaded under configurations without audit"
    " rules, and are replaced under those with audit rules"
)
_REBOOTS = (
    "{name} is rebooted before and after each trial with boot parameters or another kernel, so that"
    " trial's kernel has just booted"
)
_KERNELS = "hardcost builds no kernels for a machine that it does not boot"

CAPABILITIES = Capabilities(
    instruments=frozenset({"time"}),
    guests=frozenset({"small", "debian"}),
    inits=frozenset({"probe"}),
    parameters=False,
    kernels=False,
    layouts=False,
    fresh=False,
    requests=_REQUESTS,
    with_yes=CHANGES,
    at_once=1,
)
"""Abilities without any change: two trials at a time would disturb each other."""

CHANGING = replace(
    CAPABILITIES,
    parameters=True,
    installed=True,
    requests=_REQUESTS | CHANGES,
    with_yes=frozenset(),
)
"""Abilities where root lets the machine be changed."""


class Access(Keeps, Protocol):
    """How a machine is reached."""

    @property
    def remedy(self) -> str | None:
        """The remedy where the probe does not start."""

    @property
    def reboots(self) -> bool:
        """Whether it may be rebooted, and reached again after that."""

    async def prepare(self) -> None:
        """Bring our programs there, unless they are.

        Raises:
            MachineError: They can't be brought.
        """

    def words(self, cpu: int | None, scratch: str, seconds: float, job_bytes: int) -> list[str]:
        """Return the command that starts the probe, on one processor if one is named.

        `scratch` is a folder to be made for it, and to be removed once it has ended, which is after
        so many `seconds` at the latest. Its job has so many bytes; it ends when the stream that the
        job came on does.
        """


@dataclass
class _State:
    """Changes so far: why there are none, and the state of everything before."""

    run: str = field(default_factory=lambda: secrets.token_hex(8))
    unfit: UnfitError | None = None
    before: dict[tuple[str, ...], JournalChange] = field(default_factory=dict)


@dataclass(frozen=True)
class RealMachine:
    """A machine: how it is reached, what it says of itself, and the hash of our programs.

    `general` are remarks that hold for all its numbers; `people`: it is changed also where users
    are logged in.
    """

    reach: Access
    facts: HostFacts
    programs: str
    general: tuple[str, ...] = ()
    capabilities: Capabilities = CAPABILITIES
    people: bool = False
    _times: dict[str, int] = field(default_factory=dict)
    _state: _State = field(default_factory=_State)

    @property
    def name(self) -> str:
        """The name by which the user has named it."""
        return self.reach.name

    @property
    def remarks(self) -> tuple[str, ...]:
        """Remarks on its numbers, by the facts known so far."""
        rules = self._state.before.get(("audit-rules", _RULES, ""))
        if rules is None or not rules.before:
            return self.general
        return (*self.general, _REPLACED)

    def fetch(self, boots: Sequence[Boot], note: Callable[[str], None]) -> None:
        """Fetch nothing: the probe came with hardcost."""

    def environment(self, boot: Boot) -> dict[str, str]:
        """Return the facts about the machine that a reader has to know."""
        facts = self.facts
        known = {
            "kernel": self.kernel_name(boot),
            "cpu_model": facts.model,
            "host": facts.name,
            "clock": facts.clock,
            "governor": facts.governor,
            "measured on": "" if facts.cpu is None else f"processor {facts.cpu}",
            "hypervisor": "yes" if facts.virtual else "",
            "counters": ", ".join(facts.counters),
        }
        return {name: value for name, value in known.items() if value}

    def identity(self, boot: Boot) -> dict[str, str]:
        """Return which machine it is, in which boot: times of two of them never mix."""
        facts = self.facts
        mode, words = selinux.without_boot(boot.parameters, facts)
        return {
            **({} if mode is None else {"selinux": mode}),
            **({"parameters": " ".join(words)} if words else {}),
            **({} if boot.shipped is None else {"shipped": boot.shipped}),
            "machine": self.name.partition(":")[0],
            "machine_id": facts.machine or facts.name,
            "boot_id": facts.boot,
            "kernel": facts.kernel,
            "kernel_line": facts.line,
            "cpu_model": facts.model,
            "processor": str(facts.cpu),
            "programs": self.programs,
        }

    def kernel_identity(self) -> dict[str, str]:
        """Return the kernel, and how it was booted."""
        return {"kernel": self.facts.kernel, "kernel_line": self.facts.line}

    def kernel_name(self, boot: Boot) -> str:
        """Return the name of the kernel that runs, or that is installed beside it and booted."""
        return _release(boot) or self.facts.kernel

    def configuration(self, boot: Boot) -> Mapping[str, str] | None:  # noqa: ARG002  (the interface's)
        """Return None: no kernel is built."""
        return None

    def relations(self, recipe: KernelRecipe) -> Relations:  # noqa: ARG002  (the interface's)
        """Refuse: kernels are for guests."""
        raise MachineError(_KERNELS, hint="--machine vm boots kernels that are built")

    def packages(self, boot: Boot) -> dict[str, str]:  # noqa: ARG002  (the interface's)
        """Return that none is known."""
        return {}

    def notes(self, boot: Boot) -> tuple[str, ...]:
        """Return that the machine reboots, where the state takes a boot.

        Raises:
            InputError: It is not to be rebooted.
        """
        wished = self._wished_boot(boot)
        if wished is not None and not self.reach.reboots:
            raise InputError(
                f"{self.name} is not rebooted for {wished}: hardcost runs on it",
                hint="--machine ssh:root@HOST reboots another machine, --machine vm a guest",
            )
        return (_REBOOTS.format(name=self.name),) if wished else ()

    def _wished_boot(self, boot: Boot) -> Wished | None:
        """Return the boot that the machine has to be rebooted for, if any."""
        _, words = selinux.without_boot(boot.parameters, self.facts)
        kernel = _release(boot)
        if not words and kernel is None:
            return None
        return Wished(self._state.run, words, self.people, kernel)

    def earlier(self) -> Earlier:
        """Return that nothing has to be got ready."""
        return Earlier()

    async def account(self, boot: Boot) -> BootAccount | None:  # noqa: ARG002  (the interface's)
        """Return that nothing is amiss: there are no boot parameters."""
        return BootAccount()

    def builds(self, boot: Boot) -> tuple[str, ...]:  # noqa: ARG002  (the interface's)
        """Return that there are none."""
        return ()

    def is_ready(self, boot: Boot) -> bool:  # noqa: ARG002  (the interface's)
        """Say that it is: it runs."""
        return True

    async def make_ready(self, boot: Boot) -> None:
        """Do nothing: it runs."""

    async def built_by(self, boot: Boot, builder: Builder) -> None:  # noqa: ARG002  (the interface's)
        """Refuse: kernels are for guests."""
        raise MachineError(_KERNELS)

    def order(self, boot: Boot) -> Order:  # noqa: ARG002  (the interface's)
        """Refuse: other hosts' times are not this machine's."""
        raise MachineError(
            f"workers can't measure the machine {self.name}: their times are not its",
            hint="leave --workers out",
        )

    async def execute(self, boot: Boot, job: Sequence[Request], limit_seconds: float) -> Execution:
        """Carry out a job beside whatever else the machine does; changes end with it.

        Raises:
            InputError: The job would change the machine.
            MachineError: The machine can't be reached; a `TrialError`, the probe failed, or what it
                answered is no answer.
        """
        refused = sorted({one.do for one in job} - (self.capabilities.requests or frozenset()))
        if refused:
            raise InputError(f"{self.name} is not to be changed: {', '.join(refused)}")
        mode, _ = selinux.without_boot(boot.parameters, self.facts)
        wished = self._wished_boot(boot)
        asked_for = (*selinux.change(mode, self.facts), *wanted_states(job))
        rest = [one for one in job if one.do not in CHANGES]
        if self._state.unfit is not None and (asked_for or wished):
            raise self._state.unfit
        try:
            with lock_machine(self.reach, changes=bool(asked_for or wished)):
                return await self._run_in_boot(wished, asked_for, rest, limit_seconds)
        except UnfitError as error:
            self._state.unfit = error
            raise

    async def _run_in_boot(
        self,
        wished: Wished | None,
        asked_for: Sequence[WantedState],
        rest: Sequence[Request],
        limit_seconds: float,
    ) -> Execution:
        """Carry out the rest of a job in the boot and under the changes that it wants."""
        asked = changes.RunClaim(self._state.run, asked_for, self.people)
        if wished is None:
            return await self._run_with_changes(asked, rest, limit_seconds)
        begun = time.monotonic()
        async with boot_with_parameters(self.reach, wished) as token:
            up = time.monotonic() - begun
            asked = replace(asked, booted=token)
            done = await self._run_with_changes(asked, rest, limit_seconds, str(wished))
        return replace(done, start_seconds=up, host_seconds=time.monotonic() - begun)

    async def _run_with_changes(
        self,
        asked: changes.RunClaim,
        rest: Sequence[Request],
        limit_seconds: float,
        line: str = "",
    ) -> Execution:
        """Carry out the rest of a job while changes are held; `line` says which boot runs."""
        if not asked.changes:
            return await self._run_job(rest, limit_seconds)
        async with changes.hold_changes(self.reach, asked) as hold:
            self._check_before(hold.before, line)
            done = await self._run_job(rest, limit_seconds)
        own = [
            one
            for one in hold.answers
            if not isinstance(one, UnitAnswer | InstalledAnswer) and not _writes_mode(one)
        ]
        return replace(done, answers=(*own, *done.answers))

    def _check_before(self, before: Sequence[JournalChange], line: str) -> None:
        """Check that all is as it was before the trials so far of the same boot."""
        for one in before:
            known = self._state.before.setdefault((one.kind, one.name, line), one)
            if known != one:
                raise MachineError(
                    f"{self.name}: {one.name} was changed between two trials, and not by hardcost",
                    hint="measure when the machine is not in use; --fresh measures all again",
                )

    async def _run_job(self, job: Sequence[Request], limit_seconds: float) -> Execution:
        """Carry out a job that changes nothing."""
        # A program of the user's may have several threads, and waits for others.
        whole = any(isinstance(one, Command) for one in job)
        cpu = None if whole else self.facts.cpu
        scratch = probe_command.scratch()
        asked: Sequence[Request] = _relocate_programs(job, scratch)
        asked = [
            await self._fit_windows(one, limit_seconds) if isinstance(one, MeasureCalls) else one
            for one in asked
        ]
        whole_job = interference.with_readings(asked, cpu)
        answers, seconds = await converse(
            functools.partial(self.reach.words, cpu, scratch, limit_seconds),
            whole_job,
            limit_seconds,
            remedy=self.reach.remedy,
        )
        own, texts = interference.split_readings(answers)
        _check_clock(own, seconds)
        beside = interference.surroundings(texts, cpu) | interference.companions(own)
        return Execution(own, "", 0.0, seconds, surroundings=beside)

    async def _fit_windows(self, calls: MeasureCalls, limit_seconds: float) -> MeasureCalls:
        """Return calls in windows that are long enough for the machine's clock, and counted."""
        if any(one.name not in self._times for one in calls.calls):
            words = functools.partial(
                self.reach.words, self.facts.cpu, probe_command.scratch(), limit_seconds
            )
            answers, _ = await converse(
                words, [batch_size.trial(calls)], limit_seconds, remedy=self.reach.remedy
            )
            self._times.update(batch_size.batch_factors(answers))
        lengthened = batch_size.lengthen_windows(calls, self._times)
        return lengthened.model_copy(update={"counters": self.facts.counters or None})


async def reach_machine(
    reach: Access,
    programs: str,
    remarks: tuple[str, ...] = (),
    *,
    changing: bool = False,
    people: bool = False,
) -> RealMachine:
    """Return the machine behind `reach`, once it has said what it is; it may be changed or not.

    Raises:
        MachineError: It can't be reached, or our programs do not run there.
    """
    await reach.prepare()
    words = functools.partial(reach.words, None, probe_command.scratch(), _FACTS_SECONDS)
    answers, _ = await converse(words, questions(), _FACTS_SECONDS, remedy=reach.remedy)
    facts = read(answers)
    able = replace(CHANGING if changing else CAPABILITIES, processors=max(1, len(facts.cpus)))
    return RealMachine(reach, facts, programs, remarks, able, people)


def _release(boot: Boot) -> str | None:
    """Return the release of the installed kernel that a boot names, if it names one."""
    return None if boot.shipped is None else boot.shipped.removeprefix(INSTALLED)


def _writes_mode(answer: Done) -> bool:
    """Say whether an answer is about SELinux's mode, for which no control has asked by itself."""
    return isinstance(answer, WrittenAnswer) and answer.path == selinux.ENFORCE


def _relocate_programs(job: Sequence[Request], scratch: str) -> tuple[Request, ...]:
    """Return a job whose programs are installed in `scratch`, where the job itself finds them."""
    moved = {one.path: scratch + one.path for one in job if isinstance(one, Install)}

    def there(one: Request) -> Request:
        if isinstance(one, Install):
            return one.model_copy(update={"path": moved[one.path]})
        if isinstance(one, Command):
            argv = tuple(moved.get(word, word) for word in one.argv)
            return one.model_copy(update={"argv": argv})
        return one

    return tuple(map(there, job))


def _check_clock(answers: Sequence[Answer], seconds: float) -> None:
    """Check that windows took no longer, all together, than hardcost waited for them."""
    for one in all_of(answers, CallAnswer):
        if one.clock == "monotonic" and sum(one.samples) > seconds * _MONOTONIC:
            raise TrialError(
                f"{one.name} took {sum(one.samples) / _MONOTONIC:.3g} s by the machine's clock, and"
                f" the whole job {seconds:.3g} s by ours: its clock jumps or lies"
            )

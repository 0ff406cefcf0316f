"""Boot parameters of trials, checked with the guests' kernels before anything is measured."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from hardcost.controls.control import Control
from hardcost.errors import InputError, MachineError, Problem
from hardcost.machines.machine import Machine
from hardcost.measure.prepare import Prepared
from hardcost.mechanisms import apply
from hardcost.protocol.boot import Boot, BootAccount, WordVerdict


@dataclass
class BootLines:
    """The boot lines of a run, each asked about once.

    `notes` gathers what a reader has to know of them; `faults` what the kernel does about those of
    the processor, by the parameters that it was given; `controls` are those of all trials.
    """

    notes: dict[str, None] = field(default_factory=dict)
    faults: dict[tuple[str, ...], Mapping[str, str]] = field(default_factory=dict)
    controls: dict[Control, None] = field(default_factory=dict)
    _accounts: dict[Boot, BootAccount | MachineError] = field(default_factory=dict)

    async def ask(
        self, trials: Sequence[Prepared], machine: Machine, jobs: int
    ) -> dict[str, InputError]:
        """Return the errors of trials whose kernel does not take a boot parameter, by identity.

        `jobs` guests boot at a time. Trials whose kernel is not built yet are left out. What does
        not boot is left to the trials. A word is judged once for each kernel, in the longest line
        that has it, since what is wrong with it does not hang on others.
        """
        lines: dict[Boot, tuple[Control, ...]] = {}
        for trial in trials:
            controls = trial.trial.configuration.controls
            lines.setdefault(_boot_line(trial.boot), controls)
            self.controls.update(dict.fromkeys(controls))
        await self._ask(_boots_to_ask(lines), lines, machine, jobs)
        return self._errors_by_trial(trials)

    async def _ask(
        self,
        boots: Iterable[Boot],
        lines: Mapping[Boot, Sequence[Control]],
        machine: Machine,
        jobs: int,
    ) -> None:
        free = asyncio.Semaphore(jobs)

        async def ask(boot: Boot) -> None:
            async with free:
                try:
                    account = await machine.account(boot)
                except MachineError as error:
                    self._accounts[boot] = error
                    if _words(lines[boot]):
                        words = " ".join(boot.parameters)
                        self.notes[f"whether the kernel knows {words} was not checked: {error}"] = (
                            None
                        )
                    return
            if account is not None:
                self._accounts[boot] = account
                self.faults.setdefault(tuple(_words(lines[boot])), dict(account.faults))

        async with asyncio.TaskGroup() as group:
            for boot in boots:
                if boot not in self._accounts:
                    group.create_task(ask(boot))

    def _errors_by_trial(self, trials: Sequence[Prepared]) -> dict[str, InputError]:
        verdicts = self._verdicts()
        errors: dict[str, InputError] = {}
        for trial in trials:
            controls = trial.trial.configuration.controls
            if not _words(controls):
                continue
            known = [one for (of, _), one in verdicts.items() if of == _kernel(trial.boot)]
            problems, notes = apply.check_boot(controls, known)
            self.notes.update(dict.fromkeys(notes))
            if problems:
                errors[trial.identity] = InputError.of(problems)
        return errors

    def _verdicts(self) -> dict[tuple[Boot, str], WordVerdict]:
        """Return the kernels' verdicts on words, by the kernel and the word."""
        found: dict[tuple[Boot, str], WordVerdict] = {}
        for boot, account in self._accounts.items():
            if isinstance(account, MachineError):
                continue
            for verdict in account.verdicts:
                found.setdefault((_kernel(boot), verdict.word), verdict)
        return found


def _boots_to_ask(lines: Mapping[Boot, Sequence[Control]]) -> list[Boot]:
    """Return the lines to ask about: those with new words, and what has to be compared.

    Where a control is about the processor's faults, its own line and those without parameters are
    compared, so that a reader learns what it changes here.
    """
    seen: set[tuple[Boot, str]] = set()
    needed = []
    uncounted = {
        _kernel(boot)
        for boot, controls in lines.items()
        if any(one.uncounted and one.boot_words for one in controls)
    }
    for boot in sorted(lines, key=lambda boot: -len(boot.parameters)):
        words = {(_kernel(boot), word) for word in _words(lines[boot])}
        alone = [one for one in lines[boot] if one.uncounted]
        compared = _kernel(boot) in uncounted and (not words or (alone and len(words) == 1))
        if words - seen or compared:
            needed.append(boot)
        seen |= words
    return needed


def _words(controls: Sequence[Control]) -> list[str]:
    """Return the parameters that a kernel may not know."""
    return [word for one in controls for word in one.boot_words]


def _boot_line(boot: Boot) -> Boot:
    """Return the part of a boot that decides how its parameters are read: no layout, no disks."""
    return replace(boot, layout_seed=None, fresh=False, tree=0, disk=0, guest="small")


def _kernel(boot: Boot) -> Boot:
    """Return the same without the parameters."""
    return replace(_boot_line(boot), parameters=())


def problems_of(errors: Iterable[InputError]) -> tuple[Problem, ...]:
    """Return all problems of several errors, each once."""
    return tuple(dict.fromkeys(problem for error in errors for problem in error.problems))

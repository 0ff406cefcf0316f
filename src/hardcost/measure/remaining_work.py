"""The work that a plan still needs, and how long it will take, by what earlier work took."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hardcost.machines.machine import Machine
from hardcost.measure import expected_time
from hardcost.measure.expected_time import History, Stage, Work, WorkKind
from hardcost.measure.prepare import Prepared
from hardcost.protocol.boot import Boot
from hardcost.store.record import Record
from hardcost.store.store import Store, StoredRun


@dataclass(frozen=True)
class Outlook:
    """The trials of a plan: `known` are measured already, `missing` the others, each state once.

    `stages` are what has to be done for these, with the time that each is expected to take.
    """

    prepared: tuple[Prepared, ...]
    known: Mapping[str, Record]
    missing: tuple[Prepared, ...]
    stages: tuple[Stage, ...]

    def expected_seconds(self, stage: str) -> float | None:
        """Return about how long a stage takes; None if it has no work, or that can't be known."""
        return next((one.span.middle for one in self.stages if one.name == stage), None)


def known_records(
    prepared: Sequence[Prepared], store: Store | None, run: StoredRun | None = None
) -> dict[str, Record]:
    """Return what the store has of trials, by identity; of a fresh `run`, only its own records."""
    if store is None:
        return {}
    own = run if run is not None and run.fresh else None
    found = {one.identity: store.record(one.identity, own) for one in prepared}
    return {identity: record for identity, record in found.items() if record is not None}


def history(machine: Machine, store: Store | None) -> History:
    """Return how long work took here before; without a `store`, no trials are known."""
    trials: defaultdict[WorkKind, list[float]] = defaultdict(list)
    for workload, instrument, seconds in store.durations() if store else ():
        trials[workload, instrument].append(seconds)
    earlier = machine.earlier()
    return expected_time.History(
        trials=trials, boots=earlier.boots, builds=earlier.builds, begun=earlier.begun
    )


def outlook(  # noqa: PLR0913  (it is made of just these)
    prepared: Sequence[Prepared],
    known: Mapping[str, Record],
    machine: Machine,
    earlier: History,
    *,
    jobs: int,
    most: int | None = None,
) -> Outlook:
    """Return the work that is left for trials, of which the `known` ones are done.

    `jobs` trials run at a time, unless the machine runs its own number. `most` is how many
    configurations a search measures at most, of which the `prepared` trials are the first: the
    baseline's, then the whole profile's.
    """
    wanted: dict[str, Prepared] = {}
    for one in prepared:
        if one.identity not in known:
            wanted.setdefault(one.identity, one)
    missing = tuple(wanted.values())
    work = _work(missing, machine, earlier)
    at_once = machine.capabilities.at_once or jobs
    stages = expected_time.stages(work, earlier, at_once)
    if most is not None:
        at_most = expected_time.stages(_at_most(prepared, work, most), earlier, at_once)
        stages = expected_time.stages_between(stages, at_most)
    return Outlook(tuple(prepared), known, missing, stages)


def boots_to_prepare(trials: Sequence[Prepared], machine: Machine) -> list[Boot]:
    """Return the boots that have no snapshot yet, or no kernel."""
    return [
        boot for boot in dict.fromkeys(one.boot for one in trials) if not machine.is_ready(boot)
    ]


def _work(missing: Sequence[Prepared], machine: Machine, earlier: History) -> Work:
    """Return what has to be done for trials that are not in the store."""
    boots = boots_to_prepare(missing, machine)
    builds = {name for boot in boots for name in machine.builds(boot)}
    return expected_time.Work(
        builds=len(builds),
        begun=earlier.begun,
        boots=[boot.guest for boot in boots if boot.kernel is None],
        trials=[(one.trial.workload, one.trial.instrument) for one in missing],
    )


def _at_most(prepared: Sequence[Prepared], first: Work, most: int) -> Work:
    """Return the work of a search that measures `most` configurations, begun by `first`."""
    baseline = prepared[0].boot
    whole = [one for one in prepared if one.trial.configuration != prepared[0].trial.configuration]
    if not whole:
        return first
    more, boot = max(0, most - 2), whole[0].boot
    builds = boot.kernel is not None and boot.kernel != baseline.kernel
    boots = not builds and boot != baseline
    trials = [(one.trial.workload, one.trial.instrument) for one in whole]
    return expected_time.Work(
        builds=first.builds + more * builds,
        begun=first.begun,
        boots=[*first.boots, *[boot.guest] * (more * boots)],
        trials=[*first.trials, *trials * more],
    )

"""How long a plan will take, by what the store and the cache know of earlier work."""

from __future__ import annotations

import contextlib
from collections import defaultdict
from typing import TYPE_CHECKING

from hardcost.cli import timing
from hardcost.machines import took
from hardcost.machines.kernels import built
from hardcost.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.cli.options import Choices
    from hardcost.cli.timing import History, Kind, Stage, Work
    from hardcost.machines.cache import Cache
    from hardcost.machines.qemu.vm import VirtualMachine
    from hardcost.trial.trial import Prepared


def stages(
    prepared: Sequence[Prepared],
    machine: VirtualMachine,
    chosen: Choices,
    most: int | None = None,
) -> tuple[Stage, ...]:
    """Return the stages of what is not measured yet, with the time that each takes.

    `most` is how many configurations a search measures at most, of which the `prepared` trials are
    the first: the baseline's, then the whole profile's.
    """
    with contextlib.ExitStack() as opened:
        store = None
        if chosen.store.exists():
            store = opened.enter_context(Store(chosen.store, read_only=True))
        known = history(machine.cache, store)
        missing = [
            one
            for one in prepared
            if store is None or chosen.fresh or store.record(one.identity) is None
        ]
    work = work_of(missing, machine)
    least = timing.stages(work, known, chosen.jobs)
    if most is None:
        return least
    return timing.between(least, timing.stages(_at_most(prepared, work, most), known, chosen.jobs))


def history(cache: Cache, store: Store | None) -> History:
    """Return what is known of how long work took here; `store` None knows nothing."""
    trials: defaultdict[Kind, list[float]] = defaultdict(list)
    for workload, instrument, seconds in store.durations() if store else ():
        trials[workload, instrument].append(seconds)
    earlier = took.remembered(cache)
    return timing.History(
        trials=trials,
        boots={guest: earlier.get(f"boot {guest}", []) for guest in timing.BOOT_GUESSES},
        builds=[
            (float(one.about["seconds"]), int(one.about["steps"])) for one in built.kept(cache)
        ],
    )


def work_of(missing: Sequence[Prepared], machine: VirtualMachine) -> Work:
    """Return what has to be done for trials that are not in the store."""
    lacking = dict.fromkeys(one.boot for one in missing if not machine.is_ready(one.boot))
    builds = {machine.identity(boot)["kernel"] for boot in lacking if boot.kernel is not None}
    return timing.Work(
        builds=len(builds),
        begun=any((machine.cache.root / "builds").glob("*/whole")),
        boots=[boot.guest for boot in lacking if boot.kernel is None],
        trials=[(str(one.trial.workload), one.trial.instrument) for one in missing],
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
    trials = [(str(one.trial.workload), one.trial.instrument) for one in whole]
    return timing.Work(
        builds=first.builds + more * builds,
        begun=first.begun,
        boots=[*first.boots, *[boot.guest] * (more * boots)],
        trials=[*first.trials, *trials * more],
    )

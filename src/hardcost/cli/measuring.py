"""What `run` and `bill` share: a run of a plan as the user chose it, and its end."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING

from hardcost.cli import options, typed
from hardcost.cli.dryrun import show_plan
from hardcost.cli.lazy import with_dask
from hardcost.cli.monitors import monitor_of
from hardcost.cli.present import Page, present
from hardcost.cli.waiting import until_done
from hardcost.run.carryout import Limits
from hardcost.run.outlook import history, known_records, outlook
from hardcost.run.prepare import check_workloads, prepare_all
from hardcost.run.session import Run
from hardcost.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hardcost.analysis.finding import Finding
    from hardcost.cli.options import Choices
    from hardcost.design.plan import Plan
    from hardcost.machines.machine import Machine
    from hardcost.run.monitor import Monitor
    from hardcost.run.prepare import Prepared
    from hardcost.run.timing import Stage


@dataclasses.dataclass(frozen=True)
class Monitored:
    """A machine, and the monitor that hears what it says."""

    machine: Machine
    monitor: Monitor


def monitored(plan: Plan, chosen: Choices) -> Monitored:
    """Return the machine on which a plan is to be measured.

    Raises:
        InputError: A workload of the plan is wrong.
        MachineError: It can't measure so.
    """
    check_workloads(plan)
    monitor = monitor_of(chosen.progress)
    return Monitored(options.machine(chosen, plan.instrument, monitor), monitor)


@contextlib.contextmanager
def run_of(
    plan: Plan, chosen: Choices, *, most: int | None = None, on: Monitored | None = None
) -> Iterator[Run | None]:
    """Begin a run of a plan; None after --dry-run, when the plan has been printed instead.

    `most` is how many configurations a search measures at most, whose first ones are the plan's.
    `on` is the machine where there is one already.

    Raises:
        HardcostError: Something is wrong with the input, the machine or the store.
    """
    found = on or monitored(plan, chosen)
    machine, monitor = found.machine, found.monitor
    prepared = prepare_all(plan, machine, monitor)
    if chosen.dry_run:
        show_plan(plan, prepared, _expected(prepared, machine, chosen, most), chosen.format)
        yield None
        return
    with (
        _where_trials_run(machine, plan, chosen, monitor) as where,
        Store(chosen.store) as store,
    ):
        yield Run.of(
            plan,
            prepared,
            where,
            store,
            monitor,
            limits=Limits(chosen.jobs, chosen.timeout or plan.timeout),
            wait=until_done,
            fresh=chosen.fresh,
            resume=chosen.resume,
            most=most,
        )


@contextlib.contextmanager
def _where_trials_run(
    machine: Machine, plan: Plan, chosen: Choices, monitor: Monitor
) -> Iterator[Machine]:
    """Give the machine itself, or the same one with its trials on workers."""
    if chosen.lab is None:
        yield machine
        return
    spread = with_dask("hardcost.run.workers.spreadmachine:spread")
    with spread(machine, chosen.lab, plan.instrument, monitor, until_done) as where:
        yield where


def finished(run: Run, finding: Finding) -> Finding:
    """Save a run's finding, with the command line that led to it, and return all of it."""
    return run.finish(dataclasses.replace(finding, command=typed.words(), folder=typed.folder()))


def shown(finding: Finding, chosen: Choices) -> None:
    """Print a finding, and write its report."""
    page = Page(chosen.report, chosen.store)
    present(finding, chosen.format, page, everything=chosen.everything)


def _expected(
    prepared: Sequence[Prepared], machine: Machine, chosen: Choices, most: int | None
) -> tuple[Stage, ...]:
    """Return the stages of a plan that is not run; a store that is not there is not made."""
    with contextlib.ExitStack() as opened:
        store = None
        if chosen.store.exists():
            store = opened.enter_context(Store(chosen.store, read_only=True))
        known = known_records(prepared, None if chosen.fresh else store)
        earlier = history(machine, store)
    return outlook(prepared, known, machine, earlier, jobs=chosen.jobs, most=most).stages

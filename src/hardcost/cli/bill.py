"""`hardcost bill`: what a profile costs, itemised by control."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hardcost.cli import (
    billsearch,
    billseveral,
    billsingle,
    budgets,
    options,
    percentages,
    precisely,
    refused,
    weights,
)
from hardcost.cli.namedprofiles import named_profiles
from hardcost.design.culprits import worth_searching
from hardcost.design.plan import Workload
from hardcost.errors import InputError
from hardcost.profiles.commandline import Settings
from hardcost.profiles.importers.sysctlkeys import in_guest
from hardcost.profiles.kernel.preferred import booted

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from hardcost.analysis.budget import Budget
    from hardcost.controls.control import LsmMode, Profile


def bill(  # noqa: PLR0913  (click's options)
    profiles: tuple[str, ...],
    *,
    budget: str | None,
    method: str,
    resolution: str,
    most: int | None,
    prefer_boot: bool,
    scap_profile: str | None,
    tailoring: Path | None,
    sysctl: tuple[str, ...],
    lsm: LsmMode | None,
    precision: str | None,
    time_limit: float | None,
    count: bool,
    leave_out_faulty: bool,
    call: str | None,
    histogram_file: Path | None,
    **words: Any,  # noqa: ANN401  (click's options)
) -> None:
    """Itemise what PROFILEs cost, control by control."""
    settings = Settings(sysctl, options.started(words), lsm)
    chosen = options.choices(words, options.usual_instrument(words["machine"]))
    aim = precisely.aim(precision, time_limit)
    limit = None if budget is None else percentages.budget(budget)
    wanted = billsearch.Wanted(percentages.above_zero("--resolution", resolution), most)
    workloads = chosen.workloads or (Workload("syscalls"),)
    if limit is not None:
        budgets.check_metrics(limit, workloads)
    weighed = weights.Wanted.of(call, histogram_file, workloads)
    loaded = [
        booted(one) if prefer_boot else one
        for one in named_profiles(
            profiles, scap_profile, settings, tailoring, leave_out_faulty=leave_out_faulty
        )
    ]
    if not chosen.running:
        loaded = [in_guest(one) for one in loaded]
    for one in loaded:
        refused.check(one)
    if _is_searched(loaded, workloads, method, limit):
        precisely.check_none(aim, "a search for culprits")
        billsearch.bill(loaded[0], workloads, chosen, wanted, weighed)
    elif len(loaded) > 1:
        precisely.check_none(aim, "a bill of several profiles")
        billseveral.bill(loaded, workloads, chosen, limit, weighed)
    else:
        asked = billsingle.Asked(limit, aim, weighed, count)
        billsingle.bill(loaded[0], workloads, chosen, asked)


def _is_searched(
    profiles: Sequence[Profile],
    workloads: Sequence[Workload],
    method: str,
    limit: Budget | None,
) -> bool:
    """Say whether culprits are searched for, rather than each control measured.

    Raises:
        InputError: A search can't answer what is asked.
    """
    if method == "search" and limit is not None:
        raise InputError(
            "--budget needs each control's own cost, and a search prices only the largest",
            hint="--method single measures each",
        )
    if method == "auto":
        lengthy = [one for one in profiles if worth_searching(one.controls, workloads)]
        searches = limit is None and bool(lengthy)
    else:
        searches = method == "search"
    if searches and len(profiles) > 1:
        raise InputError(
            "a search for culprits bills one profile at a time",
            hint="bill each by itself, or take --method single",
        )
    return searches

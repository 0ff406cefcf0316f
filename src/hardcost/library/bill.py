"""The costs of profiles, itemised by control."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Literal

from auditrules.cost.predict import Histogram
from hardcost.analysis.bill.budget import Budget
from hardcost.controls.control import Profile
from hardcost.errors import RequestError
from hardcost.library import precision
from hardcost.library.bills import budgets
from hardcost.library.bills.search import BySearch
from hardcost.library.bills.several import SideBySideBills
from hardcost.library.bills.single import BillQuestion, Single
from hardcost.library.bills.verification import hindrances, is_verified_unasked
from hardcost.library.bills.weights import Ranking
from hardcost.library.measurement import Foreseen
from hardcost.library.profiles import ProfileRequest, check
from hardcost.measure.monitor import Monitor, Silent
from hardcost.mechanisms.facts import profile_in_guest
from hardcost.model.finding.bill import Bill, Bills
from hardcost.model.request import Count, Share
from hardcost.plan.search.culprits import worth_searching
from hardcost.profiles.kernel.substitutes import replace_kernel_options

Method = Literal["auto", "verify", "single", "search"]
"""How controls are measured: in groups that confirm predictions, by themselves, or by a search."""


@dataclass(frozen=True)
class BillRequest(ProfileRequest):
    """A request for a bill. Several profiles are measured in one run, side by side.

    `budget` says by how much metrics may grow: the bill then says what to leave out. `method` is
    how controls are measured: `verify` leaves them out in groups, which confirm what is predicted,
    and by themselves where that is not enough; `single` measures each by itself; `search` looks for
    those that cost more than `resolution`, a share of the baseline, in at most `most`
    configurations (None: as many as `library/bills/search.py` says). `auto` takes `search` where
    kernels are built or single trials take long, `verify` for counts of system calls, else
    `single`. With `prefer_boot`, boot parameters replace kernel options
    where they do the same. `precision` is half the width of each ratio's confidence interval, a
    share, for which trials of times are added for at most `time_limit` seconds. On a real machine,
    instructions are counted beside times if `count`. Controls are ranked by `call`, by the calls
    that `histogram` counts, or by the usual mix.
    """

    _: KW_ONLY
    budget: Budget | None = None
    method: Method = "auto"
    resolution: Share = 0.01
    most: Count | None = None
    prefer_boot: bool = False
    precision: float | None = None
    time_limit: float | None = None
    count: bool = True
    call: str | None = None
    histogram: Histogram | None = None


def bill(request: BillRequest, monitor: Monitor | None = None) -> Bill | Bills:
    """Measure the costs of profiles, and return the bill, which is saved as a run.

    Raises:
        HardcostError: Something is wrong with the input, the machine, a trial or the store.
    """
    BillRequest.expect(request)
    return _choose_way(request, monitor or Silent()).bill()


def preview(request: BillRequest, monitor: Monitor | None = None) -> Foreseen:
    """Return the plan of a bill that is not measured.

    Raises:
        HardcostError: Something is wrong with the input, the machine or the store.
    """
    return _choose_way(request, monitor or Silent()).preview()


def _choose_way(request: BillRequest, monitor: Monitor) -> Single | BySearch | SideBySideBills:
    """Return the bill that is to be measured, in the way that fits."""
    how, workloads = request.how, request.how.workloads_of_profile
    how.check()
    aim = precision.aim(request.precision, request.time_limit)
    if request.budget is not None:
        budgets.check_metrics(request.budget, workloads)
    ranking = Ranking(request.call, request.histogram)
    ranking.check(workloads)
    loaded = [
        replace_kernel_options(one) if request.prefer_boot else one
        for one in request.load_profiles()
    ]
    if not how.running:
        loaded = [profile_in_guest(one) for one in loaded]
    for one in loaded:
        check(one)
    if _is_searched(loaded, request):
        precision.check_none(aim, "a search for culprits")
        resolution, most = request.resolution, request.most
        return BySearch(loaded[0], workloads, how, resolution, most, ranking, monitor)
    if len(loaded) > 1:
        precision.check_none(aim, "a bill of several profiles")
        return SideBySideBills(loaded, workloads, how, request.budget, ranking, monitor)
    verified = _is_verified(loaded[0], request)
    asked = BillQuestion(request.budget, aim, ranking, request.count, verified)
    return Single(loaded[0], workloads, how, asked, monitor)


def _is_verified(profile: Profile, request: BillRequest) -> bool:
    """Say whether controls are left out in groups.

    Raises:
        RequestError: It is asked for, and can't be done.
    """
    if request.method == "auto":
        return is_verified_unasked(profile, request.how)
    if request.method != "verify":
        return False
    lacking = next(hindrances(profile, request.how), None)
    if lacking is not None:
        raise RequestError(
            f"`method` verify is not for {lacking}", hint="`method` single measures each control"
        )
    return True


def _is_searched(profiles: Sequence[Profile], request: BillRequest) -> bool:
    """Say whether culprits are searched for, rather than each control measured."""
    workloads, method, limit = request.how.workloads_of_profile, request.method, request.budget
    if method == "search" and limit is not None:
        raise RequestError(
            "`budget` needs each control's own cost, and a search prices only the largest",
            hint="`method` single measures each",
        )
    if method == "auto":
        lengthy = [one for one in profiles if worth_searching(one.controls, workloads)]
        verifiable = len(profiles) == 1 and not any(hindrances(profiles[0], request.how))
        searches = limit is None and bool(lengthy) and not verifiable
    else:
        searches = method == "search"
    if searches and len(profiles) > 1:
        raise RequestError(
            "a search for culprits bills one profile at a time",
            hint="bill each by itself, or take `method` single",
        )
    return searches

from __future__ import annotations

import math
from dataclasses import replace

import pytest
from tests.report.guests import filecopy, selinux

from hardcost.analysis.finding import ObservedIn
from hardcost.analysis.observations import cpu_shares, observed_by, per_operation
from hardcost.instruments.observed import Observed


def seen(seed: int, instrument: str = "cpu", **totals: float) -> ObservedIn:
    own = Observed(instrument=instrument, unit_of_totals="ticks", totals=totals, own_ticks=seed)
    return ObservedIn("on", "copy", seed, 0, own)


def test_totals_are_means_over_trials_and_peaks_the_largest() -> None:
    finding = replace(
        filecopy(),
        observed=(
            seen(1, "audit", lost=2, backlog_peak=10),
            seen(2, "audit", lost=4, backlog_peak=7),
            seen(3, "cpu", cp=1),
        ),
    )
    (amounts,) = observed_by(finding, "audit")
    assert amounts.totals == {"lost": 3, "backlog_peak": 10}
    assert (amounts.trials, amounts.own) == (2, 1.5)


def test_what_one_trial_did_not_see_counts_as_none_of_it() -> None:
    finding = replace(filecopy(), observed=(seen(1, cp=2), seen(2, rm=4)))
    (amounts,) = observed_by(finding, "cpu")
    assert amounts.totals == {"cp": 1, "rm": 2}


def test_shares_are_of_the_busy_time_and_idle_of_all() -> None:
    finding = replace(filecopy(), observed=(seen(1, cp=30, auditd=10, idle=60),))
    (shares,) = cpu_shares(finding)
    assert shares.parts == {"cp": 0.75, "auditd": 0.25}
    assert shares.idle == 0.6


def test_shares_add_up() -> None:
    for shares in cpu_shares(filecopy()):
        assert sum(shares.parts.values()) == pytest.approx(1)


def test_where_nothing_was_busy_there_are_no_shares() -> None:
    (shares,) = cpu_shares(replace(filecopy(), observed=(seen(1, cp=0, idle=0),)))
    assert shares.parts == {}
    assert math.isnan(shares.idle)


def test_a_total_is_told_for_each_operation() -> None:
    *_, amounts = observed_by(selinux(), "avc")
    assert per_operation(amounts, "lookups") == 205
    assert math.isnan(per_operation(amounts, "nothing"))
    (uncounted,) = observed_by(replace(selinux(), observed=(seen(1, "avc", lookups=5),)), "avc")
    assert math.isnan(per_operation(uncounted, "lookups"))

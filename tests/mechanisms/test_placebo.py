"""Placebos: each does another thing, and none changes anything."""

from __future__ import annotations

import pytest

from hardcost.errors import TrialError
from hardcost.mechanisms.apply import boot_parameters, requests
from hardcost.mechanisms.audit import AuditDaemon
from hardcost.mechanisms.placebo import PLACEBOS, Placebo
from tests.protocol.json_messages import as_sent, typed


def test_boot_words_are_of_many_lengths_and_counts_and_fit_on_the_line() -> None:
    words = [boot_parameters((Placebo("boot", number),)) for number in range(40)]
    assert {len(one) for one in words} == {1, 2, 3, 4}
    assert len({sum(map(len, one)) for one in words}) > 20
    assert max(len(" ".join(one)) for one in words) < 512
    assert all(word.startswith("hardcost.placebo=") for one in words for word in one)


def test_settings_are_written_with_the_values_that_they_have() -> None:
    asked = as_sent(requests((Placebo("sysctl", 2),)))
    assert len(asked) == 3
    assert all(set(one) == {"do", "path"} for one in asked)


def test_a_rule_that_is_added_is_deleted_again() -> None:
    (asked,) = as_sent(requests((AuditDaemon(), Placebo("rule", 3))))
    added = [line[3:] for line in str(asked["rules"]).splitlines() if line.startswith("-a always")]
    deleted = [
        line[3:] for line in str(asked["rules"]).splitlines() if line.startswith("-d always")
    ]
    assert added == deleted
    assert len(added) == 4


def test_a_setting_that_did_not_keep_its_value_fails_the_trial() -> None:
    one = Placebo("sysctl", 0)
    (asked,) = as_sent(requests((one,)))
    answer = {"event": "written", "path": asked["path"], "before": "0", "after": "1"}
    with pytest.raises(TrialError, match="did not keep its value '0'"):
        PLACEBOS.verify((one,), typed([answer]))
    assert PLACEBOS.verify((one,), typed([{**answer, "after": "0"}])) == ()


def test_a_setting_may_have_another_value_because_a_control_wrote_it() -> None:
    one = Placebo("sysctl", 0)
    (asked,) = as_sent(requests((one,)))
    own = {"event": "written", "path": asked["path"], "before": "0", "after": "2"}
    again = {**own, "before": "2"}
    assert PLACEBOS.verify((one,), typed([own, again])) == ()

"""What controls are worth: weights of a file, severity, 1."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from auditrules.model.rule import Rule
from hardcost.errors import InputError
from hardcost.mechanisms.audit import AuditRule
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.profiles.weights import SEVERITIES, UNKNOWN, Weights, read_weights, value_of

RULE = AuditRule(Rule("-w /etc/passwd -p wa -k identity", None), ids=("RHEL-09-654220", "SRG-OS-1"))
SYSCTL = Sysctl("kernel.kptr_restrict", "1")
CONTROLS = (RULE, SYSCTL, BootParameter("slab_nomerge"))


def read(tmp_path: Path, text: str) -> Weights:
    path = tmp_path / "weights.toml"
    path.write_text(text)
    return read_weights(path, CONTROLS)


def test_without_a_weight_or_a_severity_every_control_is_worth_the_same() -> None:
    assert [value_of(one) for one in CONTROLS] == [UNKNOWN] * 3


def test_a_graver_control_is_worth_more() -> None:
    found = [SEVERITIES[grade] for grade in ("high", "medium", "low")]
    assert found == sorted(found, reverse=True)
    assert found[-1] > UNKNOWN


@pytest.mark.parametrize(
    "key",
    ["-w /etc/passwd -p wa -k identity", "RHEL-09-654220", "SRG-*", "*identity", "RHEL-09-65422?"],
)
def test_a_weight_is_found_by_text_id_or_pattern(tmp_path: Path, key: str) -> None:
    weights = read(tmp_path, f'"{key}" = 7\n')
    assert value_of(RULE, weights) == 7
    assert value_of(SYSCTL, weights) == UNKNOWN


def test_an_exact_name_comes_before_a_pattern_and_the_last_pattern_counts(tmp_path: Path) -> None:
    weights = read(tmp_path, '"SRG-OS-1" = 3\n"*" = 4\n"kernel.*" = 5\n')
    assert [value_of(one, weights) for one in CONTROLS] == [3, 5, 4]


def test_what_has_to_be_kept_is_worth_more_than_anything(tmp_path: Path) -> None:
    assert value_of(SYSCTL, read(tmp_path, '"kernel.*" = inf\n')) == math.inf


def test_all_mistakes_are_reported_with_their_lines(tmp_path: Path) -> None:
    text = '"nosuch" = 1\n"SRG-OS-1" = -1\n"slab_nomerge" = "x"\nkernel.x = 1\n"*" = nan\n'
    with pytest.raises(InputError) as raised:
        read(tmp_path, text)
    assert [one.place and one.place.line for one in raised.value.problems] == [1, 2, 3, 4, 5]
    assert all(one.hint for one in raised.value.problems)

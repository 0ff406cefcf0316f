"""`make test` meets each kind of control and each verb in a guest; `make test-slow` has the rest.

Some of that is `lengthy`, which both leave out. That `make test` runs each workload is said by
`vm/test_each_workload.py`, which is none of the slow tests.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from hardcost.mechanisms import registry

ROOT = Path(__file__).parents[1]
VERBS = ROOT / "src/hardcost/cli/verbs"

MECHANISM_TESTS = {
    "audit": "bill.py::test_a_bill_adds_up_says_what_fired_and_shows_rules_as_text",
    "sysctl": "settings.py::test_a_setting_and_a_boot_parameter_take",
    "boot": "settings.py::test_a_setting_and_a_boot_parameter_take",
    "lsm": "lsm.py::test_apparmor_has_debians_profiles",
    "mount": "lsm.py::test_mount_options_hold",
    "auditd": "auditd.py::test_events_are_counted_by_key_under_selinux_too",
    "rsyslog": "rsyslog.py::test_every_record_comes_to_syslog_and_to_the_receiver",
    "fapolicyd": "fapolicyd.py::test_it_runs_under_selinux_enforcing",
    "scanner": "scanner.py::test_without_prevention_what_is_infected_is_read_and_reported",
    "placebo": "verbs.py::test_what_is_done_with_a_run_from_its_report_to_its_removal",
}
SLOW_MECHANISM_TESTS = {
    "kconfig": "kernels.py::test_a_study_boots_it_and_measures_calls_and_compiling",
    "service": "changes.py::test_services_and_mounts_are_changed_for_a_trial_and_are_as_they_were"
    "_after_it",
}
"""A kernel is built for the one, and a machine with systemd for the other, which take minutes."""

VERB_TESTS = {
    "advise": "verbs.py::test_what_is_advised_keeps_within_the_budget",
    "bill": "bill.py::test_a_bill_adds_up_says_what_fired_and_shows_rules_as_text",
    "compare": "verbs.py::test_what_is_done_with_a_run_from_its_report_to_its_removal",
    "doctor": "verbs.py::test_doctor_finds_that_this_machine_can_count",
    "export": "exports.py::test_exported_rules_cost_in_a_guest_what_the_profile_does",
    "gate": "gate.py::test_comments_cost_nothing_and_rules_that_cannot_be_loaded_end_with_status_2",
    "hotspots": "hotspots.py::test_a_profile_explains_what_the_bill_says",
    "image": "images.py::test_the_command_tells_what_is_in_the_image",
    "list": "verbs.py::test_what_is_done_with_a_run_from_its_report_to_its_removal",
    "report": "verbs.py::test_what_is_done_with_a_run_from_its_report_to_its_removal",
    "run": "verbs.py::test_what_is_done_with_a_run_from_its_report_to_its_removal",
    "runs": "verbs.py::test_what_is_done_with_a_run_from_its_report_to_its_removal",
    "trace": "traces.py::test_a_call_that_is_not_recorded_ends_with_its_return",
}
SLOW_VERB_TESTS = {
    "kernel": "kernels.py::test_a_kernel_that_was_built_is_not_built_again",
    "pricelist": "prices.py::test_a_sample_measured_again_has_the_prices_of_the_list",
    "restore": "changes.py::test_settings_are_compared_in_blocks_and_all_is_as_it_was_after_it",
    "rules": "rules_cost.py::test_the_command_shows_measurements_beside_predictions",
    "worker": "workers.py::test_cells_are_those_of_this_host_though_a_worker_dies_with_its_guest",
}
BOOT_NOTHING = {"cluster", "here", "import", "price", "schema"}
"""What these say is recorded in `cli/verbs/`."""


COLLECTED = """
import pytest

class Marks:
    def pytest_collection_modifyitems(self, items):
        for item in items:
            name = f"{item.path.name.removeprefix('test_')}::{item.originalname}"
            print("collected", name, *(mark.name for mark in item.iter_markers()))

words = ["--collect-only", "-q", "-p", "no:cacheprovider", "tests/vm"]
raise SystemExit(pytest.main(words, plugins=[Marks()]))
"""
"""Prints each test in `vm/`, without its parameters, with its marks."""


@cache
def collected() -> tuple[tuple[str, frozenset[str]], ...]:
    """Return the tests in `vm/` with their marks; one that has parameters, once for each."""
    done = subprocess.run(
        [sys.executable, "-c", COLLECTED], cwd=ROOT, check=True, capture_output=True, text=True
    )
    lines = (line.split() for line in done.stdout.splitlines())
    return tuple((words[1], frozenset(words[2:])) for words in lines if words[:1] == ["collected"])


def marked(*, slow: bool) -> set[str]:
    """Return the tests that boot guests, those that are slow or the others."""
    return {name for name, marks in collected() if "vm" in marks and ("slow" in marks) == slow}


def verbs() -> set[str]:
    return {path.stem.rstrip("_") for path in VERBS.glob("[!_]*.py")}


@pytest.mark.parametrize(
    ("names", "tests", "slow"),
    [
        (registry._FILES, MECHANISM_TESTS, SLOW_MECHANISM_TESTS),
        (verbs() - BOOT_NOTHING, VERB_TESTS, SLOW_VERB_TESTS),
    ],
    ids=["kinds of control", "verbs"],
)
def test_each_meets_a_guest(names: set[str], tests: dict[str, str], slow: dict[str, str]) -> None:
    assert {*tests, *slow} == {*names}
    assert set(tests.values()) <= marked(slow=False)
    assert set(slow.values()) <= marked(slow=True)


def test_each_workload_runs_in_a_guest() -> None:
    assert "each_workload.py::test_it_yields_its_metrics" in marked(slow=False)


def test_whatever_boots_a_guest_says_so() -> None:
    unmarked = {name.partition("::")[0] for name, marks in collected() if "vm" not in marks}
    assert unmarked <= {"flat_stress.py"}, "files in vm/ without the marker vm"

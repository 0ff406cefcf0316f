from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hardcost.errors import InputError, Problem
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.kconfig import Kernel
from hardcost.model.workload import Workload
from hardcost.study.model import Study
from hardcost.study.read import instrument_of, read, study_names, study_titles, workload_from_words
from hardcost.supply.packages.debian import package_root

GOOD = """
title = "A study"
workloads = ["syscalls calls=null+open"]
baseline = "base"

[[axis]]
name = "on"
switch = true
boot = ["quiet"]
"""

FIVE_MISTAKES = """\
# five mistakes
title = "x"
workloads = ["syscals"]
baseline = "rules=7"
seeds = [1, "two"]
colour = "red"

[[axis]]
name = "rules"
values = [0, 1]
audit.repeat = "-a always,exit -F arch=b64 -S swapon -F uid={n}"

[[axis]]
name = "catch-all"
switch = true
audit.rules = [
    "-a always,exit -S all -F uid=70000",
    "nonsense here",
]
"""


def study_of(folder: Path, text: str) -> Study:
    path = folder / "my.toml"
    path.write_text(text)
    return read(str(path))


def problems_of(folder: Path, text: str) -> list[tuple[int | None, str]]:
    with pytest.raises(InputError) as caught:
        study_of(folder, text)
    return [(one.place.line if one.place else None, one.message) for one in caught.value.problems]


def test_a_study_without_a_title_goes_by_its_file_s_name(tmp_path: Path) -> None:
    assert study_of(tmp_path, GOOD.replace('title = "A study"', "")).title == "my"


class TestAuditRules:
    def test_it_compares_audit_off_with_rules_and_each_with_the_catch_all(self) -> None:
        numbers = (0, 1, 10, 20, 30, 40, 50, 100, 160)
        assert [configuration.name for configuration in read("audit-rules").configurations] == [
            "audit-off",
            *(f"{on}rules={n}" for n in numbers for on in ("", "kernel=flat ")),
            *(f"{on}rules={n} catch-all" for n in numbers for on in ("", "kernel=flat ")),
        ]

    def test_the_kernel_is_the_lean_one_with_and_without_the_series_of_patches(self) -> None:
        stock, flat = Kernel("lean"), Kernel("lean", patches=("flat",))
        for configuration in read("audit-rules").configurations:
            wanted = flat if configuration.name.startswith("kernel=flat ") else stock
            kernels = [one for one in configuration.controls if isinstance(one, Kernel)]
            assert kernels == [wanted]

    def test_audit_is_off_from_the_boot_on_in_one_and_on_in_all_others(self) -> None:
        off, *others = read("audit-rules").configurations
        assert off.controls == (BootParameter("audit=0"), Kernel("lean"))
        assert all(other.controls[0] == AuditDaemon() for other in others)

    def test_every_rule_is_of_another_user_that_nobody_is(self) -> None:
        last = read("audit-rules").configurations[-1]
        assert [one[:2] for one in last.levels] == [
            ("kernel", "flat"),
            ("rules", "160"),
            ("catch-all", "on"),
        ]
        rules = [control for control in last.controls if isinstance(control, AuditRule)]
        stem = "-a always,exit -F arch=b64 -S swapon -F uid="
        assert [rule.name for rule in rules] == [
            *(f"{stem}{uid}" for uid in range(70001, 70161)),
            "-a always,exit -S all -F uid=70000",
        ]
        assert str(rules[0].rule.place) == "audit-rules.toml:36"

    def test_it_says_what_it_repeats(self) -> None:
        study = read("audit-rules")
        assert (study.name, study.baseline) == ("audit-rules", "rules=0")
        assert study.published == "audit-rule-scaling-2021"
        assert study.workloads == (Workload("syscalls"),)
        assert (study.instrument, study.seeds, study.repetitions) == ("insn", (0,), None)


@pytest.mark.vm  # as for what boots guests, Debian's packages are fetched
def test_every_ready_made_study_can_be_read_at_every_scale_and_has_a_title() -> None:
    assert tuple(study_titles()) == study_names()
    for name in study_names():
        assert read(name, package_root).title == study_titles()[name]
    for name in ("cis-audit", "selinux-services", "stig-filecopy"):
        assert read(name, package_root, scale="full").name == f"{name}-full"


class TestGood:
    def test_a_users_file_is_called_by_its_name_without_folder(self, tmp_path: Path) -> None:
        study = study_of(tmp_path, GOOD)
        assert study.name == "my"
        assert study.workloads == (Workload("syscalls", (("calls", "null+open"),)),)
        assert [configuration.name for configuration in study.configurations] == ["base", "on"]

    def test_files_of_rules_are_found_beside_it(self, tmp_path: Path) -> None:
        (tmp_path / "x.rules").write_text("-w /etc/x\n-e 2\n")
        study = study_of(tmp_path, GOOD + 'audit.files = ["x.rules"]\n')
        assert [control.name for control in study.configurations[1].controls] == [
            "auditd",
            "-w /etc/x",
            "quiet",
        ]
        assert len(study.notes) == 1

    def test_a_profile_of_the_catalogue_can_be_named(self, tmp_path: Path) -> None:
        study = study_of(tmp_path, GOOD + 'audit.profile = "stig-reduced"\n')
        assert len(study.configurations[1].controls) == 50

    def test_seeds_count_once(self, tmp_path: Path) -> None:
        study = study_of(tmp_path, GOOD.replace("baseline", "seeds = [3, 1, 3]\nbaseline"))
        assert study.seeds == (3, 1)


class TestWrong:
    def test_workloads_are_checked_with_their_values_each_at_its_line(self, tmp_path: Path) -> None:
        listed = '["dd",\n"filecopy concurrency=0",\n"syscalls calls=null+null",\n"dd"]'
        assert problems_of(tmp_path, GOOD.replace('["syscalls calls=null+open"]', listed)) == [
            (4, "the workload filecopy can't take '0' for concurrency"),
            (5, "the workload syscalls can't take 'null' twice for calls"),
            (6, "the workload 'dd' is named twice"),
        ]

    def test_all_that_is_wrong_with_a_workload_is_said_at_once(self, tmp_path: Path) -> None:
        listed = '["syscalls calls=nul+opn call=1 open calls=stat"]'
        assert problems_of(tmp_path, GOOD.replace('["syscalls calls=null+open"]', listed)) == [
            (3, "'open' after 'syscalls' is not KEY=VALUE"),
            (3, "'calls' is given twice after 'syscalls'"),
            (3, "the workload syscalls can't take 'nul' for calls"),
            (3, "the workload syscalls can't take 'opn' for calls"),
            (3, "the workload syscalls has no parameter 'call'"),
        ]

    def test_a_value_has_to_be_for_the_instrument_that_measures(self, tmp_path: Path) -> None:
        timed = GOOD.replace("syscalls calls=null+open", 'dd", \n"fio seconds=3')
        refused = (4, "the workload fio has no use for seconds under the instrument insn")
        assert problems_of(tmp_path, timed) == [refused]
        path = tmp_path / "my.toml"
        assert len(read(str(path), instrument="time").workloads) == 2
        path.write_text('instrument = "time"\n' + timed)
        assert len(read(str(path)).workloads) == 2
        with pytest.raises(InputError, match="no use for seconds"):
            read(str(path), instrument="insn")

    @pytest.mark.parametrize(
        ("line", "instrument"),
        [("", "insn"), ("'time'", "time"), ("'tme'", None), ("7", None), ("['insn']", None)],
    )
    def test_the_instrument_is_known_of_a_study_that_is_wrong(
        self, tmp_path: Path, line: str, instrument: str | None
    ) -> None:
        path = tmp_path / "my.toml"
        path.write_text(f"instrument = {line}\nbase = 7\n" if line else "base = 7\n")
        assert instrument_of(str(path)) == instrument

    def test_another_size_may_be_for_another_instrument(self, tmp_path: Path) -> None:
        path = tmp_path / "my.toml"
        path.write_text(GOOD + '[scale.long]\nworkloads = ["fio seconds=30"]\n')
        assert read(str(path)).workloads == (Workload("syscalls", (("calls", "null+open"),)),)
        assert len(read(str(path), scale="long", instrument="time").workloads) == 1
        with pytest.raises(InputError, match="no use for seconds"):
            read(str(path), scale="long")

    def test_no_package_is_fetched_for_a_study_that_is_wrong_anyway(self, tmp_path: Path) -> None:
        fetched: list[str] = []

        def fetch(package: str) -> Path:
            fetched.append(package)
            return tmp_path

        wrong = GOOD.replace("calls=null", "calls=nul") + 'profile = "rhel9-stig"\n'
        (tmp_path / "my.toml").write_text(wrong)
        with pytest.raises(InputError, match="can't take 'nul' for calls"):
            read(str(tmp_path / "my.toml"), fetch)
        assert not fetched

    @pytest.mark.parametrize(
        ("baseline", "hint"),
        [
            ("state=audit-off", "a name has a level of each axis, such as 'state=audit-off on=1'"),
            ("on=10 state=rules", "did you mean 'state=rules on=10'?"),
            ("state=audit-off on=2", "did you mean 'state=audit-off on=1'?"),
            ("status=rules on=10", "did you mean 'state=rules on=10'?"),
        ],
    )
    def test_a_hint_for_a_name_of_a_grid_keeps_its_levels(
        self, tmp_path: Path, baseline: str, hint: str
    ) -> None:
        grid = f"""
workloads = ["syscalls calls=null"]
baseline = "{baseline}"
[[axis]]
name = "state"
[axis.levels.audit-off]
boot = ["audit=0"]
[axis.levels.rules]
audit.enabled = true
[[axis]]
name = "on"
values = [1, 10]
boot = ["x={{value}}"]
"""
        with pytest.raises(InputError) as caught:
            study_of(tmp_path, grid)
        assert [one.hint for one in caught.value.problems] == [hint]

    def test_five_mistakes_are_five_problems_with_their_lines(self, tmp_path: Path) -> None:
        assert problems_of(tmp_path, FIVE_MISTAKES) == [
            (3, "there is no workload 'syscals'"),
            (4, "there is no configuration 'rules=7'"),
            (5, "seeds has to be a valid integer"),
            (6, "there is no key 'colour' here"),
            (18, "'nonsense' is not an option of auditctl"),
        ]

    @pytest.mark.parametrize(
        ("old", "new", "line", "message"),
        [
            ('"base"', '"bsae"', 4, "there is no configuration 'bsae'"),
            (
                '"syscalls calls',
                '"syscalls call',
                3,
                "the workload syscalls has no parameter 'call'",
            ),
            ('["syscalls calls=null+open"]', "[]", 3, "workloads"),
            ("calls=", "calls", 3, "'callsnull+open' after 'syscalls' is not KEY=VALUE"),
            ("baseline", 'instrument = "clock"\nbaseline', 4, "there is no instrument 'clock'"),
            ("baseline", "repetitions = 0\nbaseline", 4, "repetitions has to be greater"),
            ("baseline", "seeds = [-1]\nbaseline", 4, "seeds has to be greater"),
            ("switch = true", "switch = 1", 8, "axis.switch has to be a valid boolean"),
            ("switch = true", "", 6, "the axis on needs one of values, levels, and switch"),
            ('name = "on"', 'name = "on off"', 7, "axis.name does not have the required form"),
            ('["quiet"]', '["qu iet"]', 9, "'qu iet' is not one word"),
            ("switch", "swtich", 8, "there is no key 'swtich' here"),
        ],
    )
    def test_a_mistake_is_reported_at_its_line(
        self, tmp_path: Path, old: str, new: str, line: int | None, message: str
    ) -> None:
        assert old in GOOD
        problems = problems_of(tmp_path, GOOD.replace(old, new, 1))
        assert any(at == line and text.startswith(message) for at, text in problems), problems

    @pytest.mark.parametrize(
        ("workloads", "message"),
        [
            ('["syscalls", 5]', "workloads has to be a valid string"),
            ("[]", "workloads is empty"),
            ('"syscalls"', "workloads has to be a list"),
            ('["syscals"]', "there is no workload 'syscals'"),
        ],
    )
    def test_a_wrong_workload_is_reported_once(
        self, tmp_path: Path, workloads: str, message: str
    ) -> None:
        text = re.sub("workloads = .*", f"workloads = {workloads}", GOOD)
        assert problems_of(tmp_path, text) == [(3, message)]

    def test_two_configurations_of_one_name_are_reported(self, tmp_path: Path) -> None:
        text = GOOD + '\n[[configuration]]\nname = "a"\n\n[[configuration]]\nname = "a"\n'
        assert problems_of(tmp_path, text) == [(15, "two configurations are called 'a'")]

    def test_a_study_of_nothing_is_reported(self, tmp_path: Path) -> None:
        text = 'title = "x"\nworkloads = ["syscalls"]\nbaseline = "a"\n'
        assert problems_of(tmp_path, text) == [(None, "the study compares nothing")]

    def test_what_is_wrong_in_another_file_is_reported_after_it(self, tmp_path: Path) -> None:
        (tmp_path / "x.rules").write_text("nonsense\n")
        text = GOOD + 'audit.files = ["x.rules"]\ncolour = 1\n'
        assert problems_of(tmp_path, text) == [
            (11, "there is no key 'colour' here"),
            (1, "'nonsense' is not an option of auditctl"),
        ]

    def test_an_unknown_name_gets_a_hint(self) -> None:
        with pytest.raises(InputError) as caught:
            read("audit-rule")
        assert caught.value.problems == (
            Problem(
                "there is no ready-made study 'audit-rule', and no such file",
                None,
                "did you mean 'audit-rules'?",
            ),
        )

    @pytest.mark.parametrize("name", ["", "a\0b", "x" * 5000, "/dev/zero", "/etc"])
    def test_a_name_that_leads_nowhere_is_an_error_and_no_crash(self, name: str) -> None:
        with pytest.raises(InputError):
            read(name)

    def test_a_pipe_is_not_waited_for(self, tmp_path: Path) -> None:
        os.mkfifo(tmp_path / "pipe.toml")
        with pytest.raises(InputError, match="it is a pipe, not a regular file"):
            read(str(tmp_path / "pipe.toml"))


def outcome(text: bytes) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "any.toml")
        path.write_bytes(text)
        try:
            return read(str(path)).name
        except InputError as error:
            return error.problems[0].message


PIECES = [line + "\n" for text in (GOOD, FIVE_MISTAKES) for line in text.split("\n")]


@settings(deadline=None)
@given(st.one_of(st.binary(max_size=60), st.lists(st.sampled_from(PIECES)).map("".join)))
def test_any_bytes_give_a_study_or_an_input_error(text: bytes | str) -> None:
    assert outcome(text.encode() if isinstance(text, str) else text)


@settings(deadline=None)
@given(st.recursive(st.integers() | st.text() | st.booleans(), st.lists, max_leaves=4))
def test_any_value_of_any_key_gives_a_study_or_an_input_error(value: object) -> None:
    keys = "title workloads baseline published instrument seeds repetitions configuration base axis"
    written = repr(value).replace("True", "true").replace("False", "false")
    for key in keys.split():
        assert outcome(f"{key} = {written}\n".encode(errors="replace"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("syscalls", Workload("syscalls")),
        (" syscalls  calls=null ", Workload("syscalls", (("calls", "null"),))),
    ],
)
def test_a_workload_is_read_with_its_parameters(text: str, expected: Workload) -> None:
    assert workload_from_words(text) == expected
    assert workload_from_words(str(expected)) == expected

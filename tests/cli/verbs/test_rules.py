from __future__ import annotations

import json
import re
from importlib import resources
from importlib.metadata import version
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from auditrules.cli.group import auditrules
from hardcost.calibration.nanoseconds import rounds
from hardcost.cli.command import hardcost
from hardcost.errors import InputError

ROOT = Path(__file__).parents[3]
FAULTY = "-a always,exit -F arch=b33 -S execve -k x\n"
WIDE = "-a always,exit -F arch=b64 -S openat -F uid=0 -k root\n"
NARROW = "-a always,exit -F arch=b64 -S openat -F uid=0 -F gid=0 -k root-too\n"
FOREIGN = "-a always,exit -F arch=b32 -S execve -k run\n"


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(hardcost, ["rules", "cost", *map(str, words)])


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "x.rules"
    path.write_text(WIDE + NARROW + FOREIGN)
    return path


def test_calls_and_rules_are_shown_with_what_they_cost(rules: Path) -> None:
    result = run(rules)
    assert result.exit_code == 0
    assert "predicted:" in result.stdout
    assert "openat" in result.stdout
    assert "never fires: 1 decides before it" in " ".join(result.stdout.split())
    assert "munmap" in result.stdout
    assert "instructions are not time" in result.stderr
    assert "the mix of calls is assumed" in result.stderr


def test_a_histogram_weighs_the_calls(rules: Path, tmp_path: Path) -> None:
    counts = tmp_path / "counts.json"
    counts.write_text('{"getppid": 3, "munmap": 1}')
    data = json.loads(run(rules, "--histogram", counts, "--format", "json").stdout)
    assert {call["call"]: call["count"] for call in data["calls"]} == {"getppid": 3, "munmap": 1}
    getppid, munmap = (
        next(call["insn_per_call"] for call in data["calls"] if call["call"] == name)
        for name in ("getppid", "munmap")
    )
    assert data["insn_per_call"] == pytest.approx((3 * getppid + munmap) / 4)
    assert data["mix"] == "given"
    assert data["unit"] == "insn"
    assert data["measured"] == []


def test_rules_that_cost_in_vain_say_why(rules: Path) -> None:
    data = json.loads(run(rules, "--format", "json").stdout)
    by_line = {rule["line"]: rule for rule in data["rules"]}
    (shadowed,) = by_line[2]["in_vain"]
    assert (shadowed["kind"], shadowed["by"]["line"]) == ("shadowed", 1)
    (foreign,) = by_line[3]["in_vain"]
    assert (foreign["kind"], foreign["calls"]) == ("foreign", ["munmap"])
    assert by_line[1]["in_vain"] == []


def test_a_rule_that_the_kernel_refuses_as_a_duplicate_is_left_out_and_told(
    tmp_path: Path,
) -> None:
    path = tmp_path / "x.rules"
    path.write_text(WIDE + WIDE)
    result = run(path, "--format", "json")
    data = json.loads(result.stdout)
    assert [rule["line"] for rule in data["rules"]] == [1]
    assert [rule["line"] for rule in data["refused"]] == [2]
    assert f"left out: 1 rule that repeats an earlier one: {path}:2" in result.stderr


def test_a_bad_histogram_is_reported_with_its_line(rules: Path, tmp_path: Path) -> None:
    counts = tmp_path / "counts.json"
    counts.write_text('{"getppid": 3,\n "munmap": "many"}')
    result = run(rules, "--histogram", counts)
    assert isinstance(result.exception, InputError)
    (problem,) = result.exception.problems
    assert problem.place is not None
    assert str(problem.place) == f"{counts}:2"


def test_names_that_could_act_on_a_terminal_are_made_visible(tmp_path: Path) -> None:
    path = tmp_path / "x.rules"
    path.write_text("-a always,exit -S openat -F uid=0 -k a\x1b[31mb\n")
    assert "\x1b" not in run(path).stdout


def test_a_watch_that_is_then_an_earlier_prepended_rule_is_priced_once(tmp_path: Path) -> None:
    prepended = "-A always,exit -F path=/etc/shadow -F perm=wa -k s\n"
    alone, both = tmp_path / "alone.rules", tmp_path / "both.rules"
    alone.write_text(prepended)
    both.write_text(f"{prepended}-w /etc/shadow -p wa -k s\n")
    costs = [json.loads(run(path, "--format", "json").stdout)["calls"] for path in (alone, both)]
    assert costs[0] == costs[1]


# In nanoseconds -----------------------------------------------------------------------------------


@pytest.fixture
def few_rounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARDCOST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(rounds, "ROUNDS", 2)


@pytest.mark.usefixtures("few_rounds")
def test_a_machines_prices_are_fitted_once_and_then_predict_nanoseconds(rules: Path) -> None:
    fitted = run("--fit", "--machine", "fakehost")
    assert fitted.exit_code == 0
    assert "rule sets held out" in fitted.stdout
    result = run(rules, "--prices", "fakehost", "--format", "json")
    data = json.loads(result.stdout)
    assert (data["predicted"], data["unit"], data["measured"]) == (True, "ns", [])
    assert all("ns_per_call" in call for call in data["calls"])
    assert data["constants"]["machine"] == "fakehost"
    assert data["median_off"] >= 0
    assert "predicted, not measured: by prices that were fitted on fakehost" in result.stderr
    assert "half of the predictions are within" in result.stderr
    shown = run(rules, "--prices", "fakehost").stdout
    assert "ns per call" in shown
    assert "insn" not in shown


@pytest.mark.usefixtures("few_rounds")
def test_a_machine_without_prices_says_how_to_fit_them(rules: Path) -> None:
    result = run(rules, "--prices", "fakehost")
    assert isinstance(result.exception, InputError)
    assert result.exception.problems[0].hint == (
        "`hardcost rules cost --fit --machine fakehost` fits them in some ten minutes"
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "name a file or folder of audit rules"),
        (("--fit",), "name a file or folder of audit rules"),
        (("--machine", "host", "x"), "--machine says where --fit measures"),
        (("--fit", "--prices", "host", "x"), "use one of them"),
        (("--prices", "fakehost", "--measure", "x"), "about guests"),
        (("--fit", "--machine", "fake"), "a machine that runs already, and fake is none"),
        (("--prices", "vm", "x"), "a machine that runs already, and vm is none"),
    ],
)
def test_options_that_contradict_each_other_are_refused(
    rules: Path, words: tuple[str, ...], message: str
) -> None:
    result = run(*(rules if word == "x" else word for word in words))
    assert isinstance(result.exception, InputError)
    assert message in str(result.exception)


def test_a_prediction_says_once_which_architecture_it_is_for(tmp_path: Path) -> None:
    path = tmp_path / "x.rules"
    path.write_text("-w /etc/shadow -p wa -k x\n")
    result = run(path)
    assert result.output.count("for x86-64; other architectures not checked") == 1
    data = json.loads(run(path, "--format", "json").stdout)
    assert data["architecture"] == {"checked": ["x86-64"], "others": "not checked"}


def test_what_a_filter_of_records_costs_is_not_known_and_no_record_counts(tmp_path: Path) -> None:
    path = tmp_path / "x.rules"
    path.write_text(
        "-a always,exit -F arch=b64 -S openat -k x\n-a always,exclude -F msgtype!=SYSCALL\n"
    )
    shown = run(path).stdout
    assert "the mean of the mix, without what is not predicted" in " ".join(shown.split())
    row = next(line for line in shown.splitlines() if "msgtype!=SYSCALL" in line)
    assert "not predicted" in row
    data = json.loads(run(path, "--format", "json").stdout)
    openat = next(one for one in data["calls"] if one["call"] == "openat")
    assert (openat["record"], openat["insn_per_call"]) == (None, None)
    assert data["insn_per_call"] < 1000  # a record alone would add some 3,000


# Verbs of the rules engine -----------------------------------------------------------------------


def lint(*words: str | Path) -> Result:
    return CliRunner().invoke(hardcost, ["rules", "lint", *map(str, words)])


def test_the_rule_sets_that_come_with_hardcost_have_no_error() -> None:
    found = list((resources.files("hardcost") / "profiles" / "catalogue").iterdir())
    files = [Path(str(one)) for one in found if one.name.endswith(".rules")]
    assert files
    for file in files:
        assert lint(file).exit_code == 0, file


def test_the_hook_for_pre_commit_lints_the_files_of_audit_rules(tmp_path: Path) -> None:
    (hook,) = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    names = ["audit/rules.d/10.rules", "roles/auditd/files/x.rules", "audit.rules"]
    others = ["udev/rules.d/10.rules", "audit/notes.md"]
    chosen = [name for name in names + others if re.search(hook["files"], name)]
    assert chosen == names
    assert hook["entry"].split()[:3] == ["hardcost", "rules", "lint"]
    for name in names:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(f"-w /etc/{len(name)} -p wa -k x\n")
    words = hook["entry"].split()[3:] + [str(tmp_path / name) for name in names]
    assert lint(*words).exit_code == 0
    (tmp_path / names[0]).write_text(FAULTY)
    assert lint(*words).exit_code == 1


def test_verbs_of_the_engine_know_profiles_and_call_themselves_hardcost(tmp_path: Path) -> None:
    out = tmp_path / "out.rules"
    words = ["rules", "optimize", "RHEL-09-654010", "-o", str(out)]
    assert CliRunner().invoke(hardcost, words).exit_code == 0
    assert out.read_text().startswith("# Made by `hardcost rules optimize` from ")
    (run,) = json.loads(lint("-w /etc/x -p wa", "--format", "sarif").stdout)["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], driver["version"]) == ("hardcost", version("hardcost"))


@pytest.mark.parametrize("verb", sorted(auditrules.commands))
def test_help_names_the_program_that_was_called(verb: str) -> None:
    mounted = CliRunner().invoke(hardcost, ["rules", verb, "--help"]).output
    alone = CliRunner().invoke(auditrules, [verb, "--help"]).output
    assert f"  hardcost rules {verb} " in mounted
    assert f"  auditrules {verb} " in alone
    assert "auditrules" not in mounted
    assert "hardcost rules" not in alone

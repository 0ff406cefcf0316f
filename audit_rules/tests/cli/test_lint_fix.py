"""`rules lint --fix` on files: what is written, what stays, and that nothing else changes."""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from auditrules.cli.group import auditrules
from auditrules.files.whole import ChangedError
from auditrules.library.files import put
from auditrules.load.load import load_lines
from auditrules.model.errors import InputError
from auditrules.prove import relation
from auditrules.prove.prove import prove_equal
from auditrules.read import parse

SPELT = "-a always,exit -F arch=b33 -S fchmdo -k modes"
MENDED = "-a always,exit -F arch=b32 -S fchmod -k modes"
COSTLY = "-a always,exit -F arch=b64 -S openat -F exe=/usr/bin/vim -F exit=-EACCES -k denied"
CHEAP = "-a always,exit -F arch=b64 -S openat -F exit=-EACCES -F exe=/usr/bin/vim -k denied"
WATCH = "-w /etc/shadow -p wa -k identity"
CHMOD = "-a always,exit -F arch=b64 -S chmod -k perm"


def fix(*words: str | Path) -> Result:
    """Make all repairs; the tests of what is safe say --fix themselves."""
    return CliRunner().invoke(auditrules, ["lint", "--unsafe-fixes", *map(str, words)])


def repairs(result: Result) -> Any:  # noqa: ANN401  (JSON)
    return json.loads(result.stdout)["repairs"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "x.rules"


def write(file: Path, *lines: str) -> None:
    file.write_text("\n".join(lines) + "\n")


def test_what_is_certain_is_repaired_and_all_else_stays_byte_by_byte(file: Path) -> None:
    file.write_bytes(
        f"# \u00e9 comment\n\n  {WATCH}\n{SPELT}\n{CHMOD}  \n{COSTLY}\n{WATCH}\n# end".encode()
        + b"\xff"
    )
    file.chmod(0o640)
    result = fix(file)
    assert result.exit_code == 0, result.output
    assert file.read_bytes() == (
        f"# \u00e9 comment\n\n  {WATCH}\n{MENDED}\n{CHMOD}  \n{CHEAP}\n# end".encode() + b"\xff"
    )
    assert stat.S_IMODE(file.stat().st_mode) == 0o640
    assert f"-{SPELT}\n+{MENDED}" in result.output
    assert "3 repairs, written:" in result.output
    assert "Proved: of all lines that load today" in result.output
    assert [one.name for one in file.parent.iterdir()] == ["x.rules"]


def test_fix_makes_the_safe_repairs_and_offers_the_others(file: Path) -> None:
    write(file, SPELT, COSTLY, CHMOD, CHMOD)
    result = CliRunner().invoke(auditrules, ["lint", "--fix", str(file)])
    assert result.exit_code == 1  # the misspelt rule can't be loaded
    assert file.read_text() == f"{SPELT}\n{CHEAP}\n{CHMOD}\n"
    assert "2 repairs, written:" in result.output
    assert "--unsafe-fixes also makes 1 repair:" in result.output
    assert f"{file}:1: b33 became b32, fchmdo became fchmod [cannot-load]" in result.output
    again = CliRunner().invoke(auditrules, ["lint", "--fix", "--format", "json", str(file)])
    found = repairs(again)
    assert (found["done"], [one["safe"] for one in found["offered"]]) == ([], [False])


def test_what_is_not_proved_is_unsafe(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unknown = relation.Result(None, relation.Relation(), reason="out of time")
    monkeypatch.setattr("auditrules.repair.repairs.prove_equal", lambda *_, **__: unknown)
    write(file, CHMOD, CHMOD)
    result = CliRunner().invoke(auditrules, ["lint", "--fix", str(file)])
    assert "Nothing is written: out of time." in result.output
    assert file.read_text() == f"{CHMOD}\n{CHMOD}\n"
    result = fix(file)
    assert f"{file}:2: removed: it repeats the rule of {file}:1 [duplicate-rule] (unsafe)" in (
        result.output
    )
    assert "Not proved that what loads today records the same: out of time." in result.output
    assert file.read_text() == f"{CHMOD}\n"


def test_what_a_comment_leaves_out_is_not_repaired(file: Path) -> None:
    write(file, "# hardcost: ignore=costly-order", COSTLY, "# hardcost: ignore=no-key", COSTLY)
    found = repairs(fix("--format", "json", file))
    assert found["done"] == []
    assert "would then be about the next line" in found["left"][0]["why"]


def test_a_second_time_there_is_nothing_to_do(file: Path) -> None:
    write(file, SPELT, COSTLY, CHMOD, CHMOD)
    fix(file)
    before = file.read_bytes()
    again = fix(file)
    assert "There is no safe repair to make." in again.output
    assert file.read_bytes() == before


def test_a_dry_run_shows_the_difference_and_writes_nothing(file: Path) -> None:
    write(file, SPELT)
    result = fix("--dry-run", file)
    assert f"+{MENDED}" in result.output
    assert "1 repair, not written (--dry-run):" in result.output
    assert file.read_text() == f"{SPELT}\n"


def test_a_set_that_loads_past_a_faulty_line_is_not_widened(file: Path) -> None:
    write(file, "-i", SPELT, WATCH)
    found = repairs(fix("--format", "json", file))
    assert found["done"] == []
    assert "repairing it would record more" in found["left"][0]["why"]
    assert file.read_text() == f"-i\n{SPELT}\n{WATCH}\n"


def test_a_name_that_would_repeat_another_rule_stays(file: Path) -> None:
    write(file, "-a always,exit -F arch=b32 -S fchmod -k modes", SPELT)
    found = repairs(fix("--format", "json", file))
    assert found["done"] == []
    assert "it would repeat another rule" in found["left"][0]["why"]


def test_what_is_not_certain_stays_and_is_said(file: Path) -> None:
    write(file, "-a always,exit -S dup4 -k x")
    result = fix(file)
    assert result.exit_code == 1
    assert "x.rules:1: left: 3 names of a system call are as near" in result.output


def test_arch_is_put_in_front_of_the_calls(file: Path) -> None:
    write(file, "-a always,exit -S chmod -F arch=b64 -F uid=0 -k x")
    assert fix(file).exit_code == 0
    assert file.read_text() == "-a always,exit -F arch=b64 -S chmod -F uid=0 -k x\n"


def test_a_rule_that_a_later_line_deletes_by_its_words_stays(file: Path) -> None:
    write(file, COSTLY, COSTLY.replace("-a", "-d", 1), CHMOD)
    assert fix(file).exit_code == 0
    assert file.read_text().startswith(COSTLY)


def test_whether_a_watch_repeats_a_rule_is_not_guessed(file: Path) -> None:
    write(file, "-w /etc/x -p wa -k k", "-a always,exit -F path=/etc/x -F perm=wa -k k")
    found = repairs(fix("--format", "json", file))
    assert found["done"] == []
    assert "depends on what lies at the watched path" in found["left"][0]["why"]


def test_only_the_chosen_findings_are_repaired(file: Path) -> None:
    write(file, COSTLY, CHMOD, CHMOD)
    fix("--ignore", "costly-order", file)
    assert file.read_text() == f"{COSTLY}\n{CHMOD}\n"


def test_a_folder_and_a_link_are_written_where_they_lie(tmp_path: Path) -> None:
    folder = tmp_path / "rules.d"
    folder.mkdir()
    write(tmp_path / "real", CHMOD, WATCH)
    write(folder / "10-a.rules", CHMOD)
    (folder / "20-b.rules").symlink_to(tmp_path / "real")
    assert fix(folder).exit_code == 0
    assert (folder / "20-b.rules").is_symlink()
    assert (tmp_path / "real").read_text() == f"{WATCH}\n"


def test_line_numbers_of_what_remains_are_those_of_the_new_file(file: Path) -> None:
    write(file, CHMOD, CHMOD, "-a always,exit -S nosuchcall -k x")
    found = json.loads(fix("--format", "json", file).stdout)["findings"]
    assert [one["line"] for one in found if one["code"] == "cannot-load"] == [2]


def test_standard_input_and_a_lone_dry_run_are_refused(file: Path) -> None:
    for option in ("--fix", "--unsafe-fixes", "--generate-ignore"):
        result = CliRunner().invoke(auditrules, ["lint", option, "-"], input=SPELT)
        assert isinstance(result.exception, InputError)
    write(file, CHMOD)
    alone = CliRunner().invoke(auditrules, ["lint", "--dry-run", str(file)])
    assert alone.exit_code == 2


def test_a_file_that_changed_meanwhile_is_left_alone(file: Path) -> None:
    write(file, CHMOD)
    with pytest.raises(ChangedError):
        put(file, b"new\n", before=b"something else\n")
    assert file.read_text() == f"{CHMOD}\n"
    assert [one.name for one in file.parent.iterdir()] == ["x.rules"]


LINES = (WATCH, CHMOD, COSTLY, CHEAP, SPELT, "-i", "# a comment", "", "-D", "-b 8192",
         "-a never,exit -S chmod -F uid=0", "-a always,exit -S dup4 -k x",
         COSTLY.replace("-a", "-d", 1), "-a always,exit -S chmod -F arch=b64 -k late",
         "-w /etc/shadow/ -p wa -k identity", CHMOD.replace("-a", "-A", 1))  # fmt: skip


@settings(
    deadline=None,
    max_examples=settings().max_examples * 2 // 5,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(lines=st.lists(st.sampled_from(LINES), min_size=1, max_size=8))
def test_of_any_lines_what_loaded_is_recorded_as_before(file: Path, lines: list[str]) -> None:
    write(file, *lines)
    before = load_lines([parse.read_bytes(file.read_bytes(), "x")])
    fix(file)
    after = load_lines([parse.read_bytes(file.read_bytes(), "x")])
    assert {one.reading.text for one in after.failing} <= {
        one.reading.text for one in before.failing
    }
    if before.stops_at is None:  # it loads: nothing is added, and nothing is lost
        assert prove_equal(before.rules, after.rules).equal
    comments = [line for line in lines if line.startswith("#") or not line]
    kept = [line for line in file.read_text().split("\n")[:-1] if line.startswith("#") or not line]
    assert kept == comments

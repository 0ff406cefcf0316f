from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from auditrules.cli.group import auditrules
from auditrules.model.errors import InputError
from auditrules.read import parse

TEXT = """\
-D
-b 8192
## about the file

# permissions that users change
-a always,exit -F arch=b64 -S chmod,fchmod -F auid>=1000 -F key=perm
# ownership
-a always,exit -F arch=b64 -S chown -F auid>=1000 -F key=perm
# a folder
-w /etc/d/ -p wa -k folder
-a never,task -F uid=1

## the end
-e 2
"""


def run(*words: str | Path) -> Result:
    return CliRunner().invoke(auditrules, ["optimize", *map(str, words)])


@pytest.fixture
def rules(tmp_path: Path) -> Path:
    path = tmp_path / "x.rules"
    path.write_text(TEXT)
    return path


def test_the_output_reads_as_rules_and_keeps_comments_and_settings(
    rules: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.rules"
    result = run(rules, "-o", out)
    assert result.exit_code == 0, result.stderr
    lines = out.read_text().splitlines()
    for comment in ("## about the file", "# permissions that users change", "# ownership"):
        assert comment in lines
    joined = "-a always,exit -F arch=b64 -S chmod,fchmod,chown -F auid>=1000 -k perm"
    at = lines.index(joined)
    said = " ".join(line.removeprefix("# ") for line in lines[:at])
    assert f" from {rules}:6, 8: calls of similar rules merged (saves the mean call" in said
    assert lines.index("# permissions that users change") < lines.index("# ownership") < at
    assert lines.index("-D") < lines.index("-b 8192") < at
    assert lines[-1] == "-e 2"
    assert "-a never,task -F uid=1" in lines
    assert len(parse.read([out]).rules) == 3


def test_what_it_says_names_costs_proof_and_that_no_call_pays_more(
    rules: Path, tmp_path: Path
) -> None:
    result = run(rules, "-o", tmp_path / "out.rules")
    said = " ".join(result.stdout.split())
    for words in ("before", "after", "No call costs more than before", "Proved for all"):
        assert words in said
    assert "instructions are not time" in result.stderr


def test_json_has_every_call_and_where_each_line_came_from(rules: Path, tmp_path: Path) -> None:
    result = run(rules, "-o", tmp_path / "out.rules", "--format", "json")
    data = json.loads(result.stdout)
    assert data["proof"]["equal"] is True
    assert data["architecture"] == {"checked": ["x86-64"], "others": "not checked"}
    assert data["walked"] == {"before": 3, "after": 2}
    assert data["dearer"] == []
    by_call = {(one["arch"], one["call"]): one for one in data["calls"]}
    assert len(by_call) > 700
    assert all(set(one) == {"arch", "call", "before", "after"} for one in data["calls"])
    assert data["mean"]["after"] < data["mean"]["before"]
    assert data["lines"][0]["from"] == [f"{rules}:6", f"{rules}:8"]


def test_each_change_has_its_lines_what_it_saves_and_why_it_records_the_same(
    rules: Path, tmp_path: Path
) -> None:
    result = run(rules, "-o", tmp_path / "out.rules")
    made = " ".join((tmp_path / "out.rules").read_text().replace("#", "").split())
    assert (
        f"from {rules}:6, 8: calls of similar rules merged (saves the mean call 19.0 instructions)"
        " The same is recorded: the lines have the same action, conditions and key, and differ only"
        " in their calls. -a always,exit"
    ) in made
    assert f"- 19.0  {rules}:6, 8: calls of similar rules merged" in result.stdout
    data = json.loads(run(rules, "-o", tmp_path / "b", "--format", "json").stdout)
    assert data["lines"][0]["saves"] == pytest.approx(19, abs=0.1)
    assert data["lines"][0]["why"].startswith("The same is recorded: ")
    assert {(one["saves"], one["why"]) for one in data["lines"][1:]} == {(0.0, None)}


def test_lines_stay_recognisable_unless_all_changes_are_asked_for(tmp_path: Path) -> None:
    start = "-a always,exit -F arch=b64 -S open"
    text = f"{start} -F exit=-EACCES -k access\n{start} -F exit=-EPERM -k access\n"
    result, lines = optimised(tmp_path, text)
    assert lines == text.splitlines()
    assert "--thorough saves the mean call about " in result.stdout
    result, lines = optimised(tmp_path, text, "--thorough")
    assert len(lines) == 1
    assert "-F exit>=-EACCES" in lines[0]
    assert "--thorough" not in result.stdout


def test_an_existing_file_is_not_written_over_without_force(rules: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.rules"
    out.write_text("mine")
    result = run(rules, "-o", out)
    assert isinstance(result.exception, InputError)
    assert out.read_text() == "mine"
    assert run(rules, "-o", out, "--force").exit_code == 0


def test_an_input_is_never_written_over(rules: Path) -> None:
    for out in (rules, rules.parent / "new.rules"):
        result = run(rules if out == rules else rules.parent, "-o", out, "--force")
        assert isinstance(result.exception, InputError)
    assert rules.read_text() == TEXT


def test_what_never_first_gives_up_is_printed_and_stands_in_the_file(tmp_path: Path) -> None:
    rules, out = tmp_path / "x.rules", tmp_path / "out.rules"
    rules.write_text(
        "".join(f"-a always,exit -F arch=b64 -S mount -F a0={n} -k k{n}\n" for n in range(9))
    )
    result = run(rules, "-o", out, "--allow-never-first")
    assert result.exit_code == 0
    assert "gives up" in result.stdout
    assert "AVC" in result.stdout
    assert "AVC" in out.read_text()
    assert "-a never,exit" in out.read_text()


def test_a_faulty_line_ends_it_unless_it_may_be_left_out(tmp_path: Path) -> None:
    rules, out = tmp_path / "x.rules", tmp_path / "out.rules"
    rules.write_text("-a always,exit -S nosuch -k a\n-a always,exit -F arch=b64 -S mount -k b\n")
    result = run(rules, "-o", out)
    assert isinstance(result.exception, InputError)
    assert not out.exists()
    result = run(rules, "-o", out, "--leave-out-faulty")
    assert result.exit_code == 0
    assert "left out: 1 line that auditctl refuses:" in result.stderr
    assert len(parse.read([out]).rules) == 1


def test_hostile_names_do_not_reach_the_terminal_or_break_lines(tmp_path: Path) -> None:
    rules, out = tmp_path / "x.rules", tmp_path / "out.rules"
    rules.write_text("-a always,exit -F arch=b64 -S mount -k \u202eevil\u2028-D\n" * 1)
    result = run(rules, "-o", out)
    assert result.exit_code == 0, result.stderr
    assert f"No cheaper set was found: {out} has the same rules." in result.stdout
    assert "\u202e" not in result.stdout
    assert len(parse.read([out]).rules) == 1


SUDOERS = "-w /lib/systemd -p wa -k s\n"


def optimised(tmp_path: Path, text: str, *words: str | Path) -> tuple[Result, list[str]]:
    """Optimise a text, and return the lines of the file that are rules."""
    rules, out = tmp_path / "in.rules", tmp_path / "made.rules"
    rules.write_text(text)
    result = run(rules, "-o", out, "--force", *words)
    lines = out.read_text().splitlines() if out.exists() else []
    return result, [line for line in lines if line.startswith(("-a", "-A", "-w"))]


def test_a_watch_of_unknown_kind_stays_as_it_is(tmp_path: Path) -> None:
    result, lines = optimised(tmp_path, SUDOERS)
    assert lines == [SUDOERS.strip()]
    assert (
        "may or may not be a directory, and the new set records the same in both cases"
        in result.stdout
    )
    assert "/lib/systemd: a directory" not in result.stdout


def test_a_list_of_paths_lets_a_watch_be_narrowed_and_is_named_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "paths").write_text("/lib/systemd/\n")
    result, lines = optimised(tmp_path, SUDOERS, "--paths", tmp_path / "paths")
    assert result.exit_code == 0
    (line,) = lines
    assert "-F dir=/lib/systemd -F perm=wa" in line
    assert "2041,2040" in line
    made = (tmp_path / "made.rules").read_text()
    assert "/lib/systemd: a directory, so -w watches everything in it" in made
    assert "each directory that a rule watches exists" in " ".join(made.replace("#", "").split())
    assert "Proved for Linux 6.1, 6.12, 7.2, 7.3" in made


def test_a_folder_says_what_is_watched_and_whether_the_result_loads(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "lib" / "systemd").mkdir(parents=True)
    (root / "etc").mkdir()
    text = f"{SUDOERS}-w /etc/sudoers.d/ -p wa -k t\n"
    result, lines = optimised(tmp_path, text, "--root", root)
    assert any("-F dir=/lib/systemd" in line for line in lines)
    assert "-w /etc/sudoers.d/ -p wa -k t" in lines  # nothing lies there: it may become either
    assert "all paths that the rules need exist below" in result.stderr
    missing, _ = optimised(
        tmp_path, "-a always,exit -F dir=/srv/x -F perm=wa -k x\n", "--root", root
    )
    assert "refuses the rule: /srv/x does not exist" in missing.stderr


def test_the_rules_lines_are_kept_where_scanners_look_for_them(tmp_path: Path) -> None:
    text = (
        "-a always,exit -F arch=b64 -S chmod -F auid>=1000 -k perm\n"
        "-a always,exit -F arch=b64 -S chown -F auid>=1000 -k perm\n"
        "-a always,exit -F dir=/etc -F perm=wa -k etc\n"
    )
    result, lines = optimised(tmp_path, text, "--keep-lines", "--allow-never-first")
    assert sorted(line for line in lines if "never" not in line) == sorted(text.splitlines())
    assert any(line.startswith("-a never,exit") for line in lines)
    assert result.exit_code == 0
    result, lines = optimised(tmp_path, text, "--keep-lines")
    assert sorted(lines) == sorted(text.splitlines())
    assert "No cheaper set that keeps each line was found" in result.stdout
    assert result.exit_code == 0


def test_rules_come_from_standard_input_and_go_to_standard_output() -> None:
    text = "-a always,exit -F dir=/etc -F perm=wa -k etc\n"
    words = ["optimize", "-", "-o", "-"]
    result = CliRunner().invoke(auditrules, words, input=text)
    assert result.exit_code == 0
    assert result.stdout.startswith("# Made by `auditrules optimize` from standard input.")
    assert "There is still 1 rule" in result.stderr


def test_every_fault_can_be_left_out_and_one_list_says_which(tmp_path: Path) -> None:
    faults = (
        "-a always,exit -F arch=b64 -S mount -k -F mounts",
        "-w /etc/x -p wa stray",
        "-b abc",
        "-w /etc/y -Z",
        "-a always,exit -S nosuch",
        "-d always,exit -S mount -k none",
    )
    good = "-a always,exit -F dir=/etc -F perm=wa -k etc"
    text = "\n".join([*faults, good, good, "-e 2", "-w /late -p r", ""])
    result, _ = optimised(tmp_path, text)
    assert isinstance(result.exception, InputError)
    for words, content in ((["--leave-out-faulty"], text), ([], f"-i\n{text}")):
        result, lines = optimised(tmp_path, content, *words)
        assert result.exit_code == 0, result.stderr
        assert len(lines) == 1
        assert "left out: 7 lines that auditctl refuses" in result.stderr
        assert "left out: 1 rule that repeats an earlier one" in result.stderr


def test_many_lines_that_end_in_a_carriage_return_are_one_problem(tmp_path: Path) -> None:
    text = "-a always,exit -F arch=b64 -S execve\r\n" * 50
    result, _ = optimised(tmp_path, text)
    assert isinstance(result.exception, InputError)
    problems = [one.message for one in result.exception.problems]
    assert len(problems) == 2
    assert problems[0].startswith("50 lines of ")
    assert result.exception.problems[0].hint == "save the file with Unix line ends"


def test_rules_that_are_as_cheap_as_can_be_are_no_failure(tmp_path: Path) -> None:
    result, lines = optimised(tmp_path, "-a always,exit -F arch=b64 -S mount -k m\n")
    assert result.exit_code == 0
    assert len(lines) == 1


def test_what_is_left_out_stands_in_the_file_and_in_what_it_rests_on(tmp_path: Path) -> None:
    text = "--frobnicate\n-a always,exit -F dir=/etc -F perm=wa -k etc\n"
    result, _ = optimised(tmp_path, text, "--leave-out-faulty")
    made = (tmp_path / "made.rules").read_text()
    assert "# left out, since auditctl refuses it: --frobnicate" in made
    place = f"{tmp_path / 'in.rules'}:1"
    assert f"- {place}: left out, since auditctl refuses them" in result.stdout
    assert "auditctl continues after" in result.stdout


def test_a_refused_line_that_begins_like_a_setting_is_left_out(tmp_path: Path) -> None:
    refused = "-exita always,exit -F exit=-13"  # `-e` alone is a setting
    text = f"-a always,exit -F dir=/etc -F perm=wa -k etc\n{refused}\n"
    optimised(tmp_path, text, "--leave-out-faulty")
    made = (tmp_path / "made.rules").read_text().splitlines()
    assert f"# left out, since auditctl refuses it: {refused}" in made
    assert refused not in made


def test_of_a_line_that_is_too_long_for_a_comment_the_beginning_is_repeated(tmp_path: Path) -> None:
    text = f"-a never,filesystem -F {'9' * 8100}\n-a always,exit -F dir=/etc -F perm=wa -k etc\n"
    result, lines = optimised(tmp_path, text, "--leave-out-faulty")
    assert result.exit_code in {0, 1}, result.output
    assert max(map(len, lines)) < 2000
    made = (tmp_path / "made.rules").read_text()
    assert f"{'9' * 900}" in made
    assert max(map(len, made.splitlines())) < 2000


def test_the_file_is_written_in_the_bytes_that_were_proved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("locale.getencoding", lambda: "ISO-8859-1")
    text = "-a always,exit -F dir=/etc -F perm=wa -k caf\N{LATIN SMALL LETTER E WITH ACUTE}\n"
    rules, out = tmp_path / "in.rules", tmp_path / "made.rules"
    rules.write_bytes(text.encode())
    assert run(rules, "-o", out).exit_code == 0
    assert "-k caf\N{LATIN SMALL LETTER E WITH ACUTE}".encode() in out.read_bytes()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("-a always,exit -S setxattr -F perm=x\n", []),
        ("-w /q!=1 -p wa -F auid>=1000 -k k\n", ["--paths"]),
        (
            "-A always,exit -F arch=b64 -S open -k k\n" * 2
            + "-a always,exit -F arch=b64 -S read -k r\n",
            ["--keep-lines"],
        ),
        ("-w /x/. -p wa -k k\n-w // -p w -k k\n", []),
    ],
)
def test_odd_rules_that_load_come_to_a_file(tmp_path: Path, text: str, words: list[str]) -> None:
    paths = tmp_path / "paths"
    paths.write_text("/q!=1\n")
    result, lines = optimised(
        tmp_path, text, *(["--paths", paths] if "--paths" in words else words)
    )
    assert result.exit_code in {0, 1}
    assert lines


def test_a_never_rule_leaves_alone_what_later_kernels_count(tmp_path: Path) -> None:
    text = (
        "-a always,exit -F arch=b64 -S execve -F ppid=1 -k k1\n"
        "-a always,exit -F arch=b64 -F dir=/etc -F perm=r -k k1\n"
        "-a always,exit -F arch=b32 -S read -C uid!=euid -k k1\n"
    )
    result, _ = optimised(tmp_path, text, "--allow-never-first")
    assert "it does not record the same" not in result.stderr
    made = (tmp_path / "made.rules").read_text()
    assert "Proved for Linux 6.1, 6.12, 7.2, 7.3" in made


def test_kept_lines_keep_their_spaces(tmp_path: Path) -> None:
    text = "  -w   /etc/x/   -p wa\n-a always,exit -F arch=b64 -S open   -F auid>=1000\n"
    optimised(tmp_path, text, "--keep-lines")
    made = (tmp_path / "made.rules").read_text().splitlines()
    assert set(text.splitlines()) <= set(made)


def test_standard_input_is_read_but_once() -> None:
    words = ["cost", "-", "-"]
    result = CliRunner().invoke(auditrules, words, input="-w /etc/x\n")
    assert isinstance(result.exception, InputError)

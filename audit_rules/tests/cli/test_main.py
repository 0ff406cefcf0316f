"""The command `auditrules` as a process: its statuses, and what help and TAB import."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = {"pydantic", "rich", "z3", "auditrules.model.rule"}
COMMAND = """
import json, sys
from auditrules.cli.main import main
sys.argv = ["auditrules", *json.loads(sys.argv[1])]
try:
    main()
finally:
    sys.stderr.write("\\n" + json.dumps(sorted(sys.modules)))
"""


def run(*words: str, **environment: str) -> tuple[subprocess.CompletedProcess[str], set[str]]:
    """Return how a command ended, and the modules that it had imported."""
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, json.dumps(words)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    said, _, modules = done.stderr.rpartition("\n")
    done.stderr = said
    return done, set(json.loads(modules))


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["lint", "-w /etc/shadow -p wa -k x"], 0, ""),
        (["lint", "-a always,exit -S nosuch -k x"], 1, ""),
        (["cost", "missing.rules"], 2, "error: there is no file or folder missing.rules\n"),
        (["lint", "--nosuch", "x"], 2, "No such option"),
        (["prove", "x"], 2, "Missing argument"),
    ],
)
def test_a_command_ends_with_the_status_of_its_answer(
    words: list[str], status: int, said: str
) -> None:
    done, modules = run(*words)
    assert done.returncode == status
    assert said in done.stderr
    assert not any(name.partition(".")[0] == "hardcost" for name in modules)


def test_a_crash_does_not_end_with_the_status_of_an_answer(tmp_path: Path) -> None:
    broken = tmp_path / "z3.py"
    broken.write_text("1 / 0\n")
    words = ("prove", "-w /etc/a -p wa", "-a always,exit -F path=/etc/a -F perm=w -F auid>=1000")
    done, _ = run(*words, PYTHONPATH=str(tmp_path))
    assert done.returncode == 70
    assert "ZeroDivisionError" in done.stderr


@pytest.mark.parametrize("words", [["--help"], ["lint", "--help"], ["prove", "--help"]])
def test_help_imports_nothing_of_what_the_verbs_work_with(words: list[str]) -> None:
    done, modules = run(*words)
    assert "Example" in done.stdout
    assert not modules & HEAVY


def test_tab_offers_verbs_options_and_files() -> None:
    for typed, offered in (("auditrules ", "plain,lint"), ("auditrules lint x", "file,x")):
        words = {"COMP_WORDS": typed, "COMP_CWORD": str(typed.count(" "))}
        done, modules = run(_AUDITRULES_COMPLETE="bash_complete", **words)
        assert offered in done.stdout.splitlines()
        assert not modules & HEAVY

"""`hardcost compare` of two answers of `hardcost here`: files that others may have written."""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.verbs.conversation import said

HOSTILE = "\x1b[2J\u202e\u200b\n::error::x|`<script>"

ITEM = {"id": "sysctl:a=1", "kind": "sysctl", "name": "a=1", "by_default": False, "share": 0.1}
ANSWER = {
    "version": 1,
    "kind": "here",
    "machine": "web",
    "words": "",
    "kernel": "6.1",
    "priced_on": "6.1",
    "predicted_on": "6.1",
    "mix": "an assumed mix",
    "mix_by": "assumed",
    "covered": 0.5,
    "share": 0.1,
    "calls": [],
    "items": [ITEM],
}


@dataclass(frozen=True)
class Ended:
    """What a command printed, and its status."""

    stdout: str
    stderr: str
    status: int


Compare = Callable[..., Ended]


@pytest.fixture
def hardcost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Compare:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARDCOST_STORE", str(tmp_path / "x.sqlite"))
    Path("good.json").write_text(json.dumps(ANSWER))

    def carry_out(*words: str) -> Ended:
        line = shlex.join(words)
        text = said(line, capsys).removeprefix(f"$ hardcost {line}\n")
        text, _, status = text.rpartition("--- status ")
        text, _, stderr = text.partition("--- stderr\n")
        return Ended(text.removeprefix("--- stdout\n"), stderr, int(status))

    return carry_out


@pytest.fixture
def compared(hardcost: Compare) -> Compare:
    return lambda *words: hardcost("compare", *words)


def changed(**more: object) -> str:
    return json.dumps(ANSWER | more)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not JSON"),
        ("[]", "no JSON object"),
        ("\x80", "not JSON"),
        ("{" * 5, "not JSON"),
        ('{"kind":' + "[" * 100_000 + "]" * 100_000 + "}", "nested too deeply"),
        ('{"share":' + "1" * 5000 + "}", "not JSON"),
        (changed(kind="bill"), "no answer of `hardcost here`"),
        (changed(kind=["here"]), "no answer of `hardcost here`"),
        ("{}", "no answer of `hardcost here`"),
        ('{"kind": "here"}', "machine: "),
        (changed(version=2), "version: "),
        (changed(items=5), "items: "),
        (changed(items=[ITEM | {"name": 5}]), "items.0.name: "),
        (changed(items=[ITEM | {"share": float("nan")}]), "finite"),
        (changed(share=float("inf")), "finite"),
        (changed(share=None), "finite"),
        (changed(first_rule=None), "finite"),
        (changed().replace("0.1", "1e999"), "finite"),
    ],
)
@pytest.mark.parametrize("at", [0, 1])
def test_a_damaged_file_is_named(text: str, problem: str, at: int, compared: Compare) -> None:
    Path("bad.json").write_bytes(text.encode("latin-1"))
    names = ["good.json", "good.json"]
    names[at] = "bad.json"
    ended = compared(*names)
    assert ended.status == 2
    assert "bad.json: " in ended.stderr
    assert problem in ended.stderr
    assert not ended.stdout


def test_a_file_that_is_too_large_is_not_read(compared: Compare) -> None:
    with Path("bad.json").open("wb") as file:
        file.truncate(1 << 30)
    ended = compared("bad.json", "good.json")
    assert ended.status == 2
    assert "bad.json" in ended.stderr
    assert "larger than" in ended.stderr


def test_a_pipe_is_not_waited_for(compared: Compare) -> None:
    os.mkfifo("pipe")
    ended = compared("good.json", "pipe")
    assert ended.status == 2
    assert "it is a pipe" in ended.stderr


@pytest.mark.parametrize("other", ["last", "nosuch.json", "x" * 300, "."])
def test_a_file_and_a_run_don_t_go_together(other: str, compared: Compare) -> None:
    for names in (("good.json", other), (other, "good.json")):
        ended = compared(*names)
        assert ended.status == 2
        assert f"'good.json' is a file, and '{other}' is not" in ended.stderr.replace("\n", " ")


def test_what_is_no_file_is_a_run(compared: Compare) -> None:
    ended = compared("nosuch", "last")
    assert ended.status == 2
    assert "is a file" not in ended.stderr


@pytest.mark.parametrize("words", [("--format", "csv"), ("--format", "parquet"), ("--raw",)])
def test_forms_of_rows_are_refused(words: tuple[str, ...], compared: Compare) -> None:
    ended = compared("good.json", "good.json", *words)
    assert ended.status == 2
    assert ended.stderr.startswith("error: ")
    assert not ended.stdout


@pytest.mark.parametrize("form", ["text", "json", "markdown"])
def test_hostile_texts_print_clean(form: str, compared: Compare) -> None:
    item = ITEM | {"id": HOSTILE, "name": HOSTILE, "place": f"/{HOSTILE}:3", "why": HOSTILE}
    texts = dict.fromkeys(("machine", "kernel", "priced_on", "mix"), HOSTILE)
    lone = changed(items=[item, item | {"share": None, "accepted": HOSTILE, "name": "\ud800"}])
    Path(f"a{HOSTILE.replace('/', '')}.json").write_text(
        json.dumps(json.loads(lone) | texts | {"unseen": [HOSTILE], "notes": [HOSTILE]})
    )
    (name,) = Path().glob("a*.json")
    ended = compared("good.json", str(name), "--format", form)
    assert ended.status == 0
    assert ended.stdout.replace("\n", "").isprintable()
    assert ended.stdout.isascii() or form != "json"
    assert not any(line.startswith("::") for line in ended.stdout.splitlines())
    if form == "json":
        found = json.loads(ended.stdout)
        assert found["kind"] == "here-comparison"
        assert [one["name"] for one in found["added"]] == [HOSTILE, "\ud800"]
    if form == "markdown":
        assert all(line.startswith("|") == (line.count(" | ") > 3) for line in table_of(ended))
    name.write_text("no JSON")
    ended = compared("good.json", str(name))
    assert ended.status == 2
    assert ended.stderr.replace("\n", "").isprintable()


def table_of(ended: Ended) -> list[str]:
    return [line for line in ended.stdout.splitlines() if " | " in line]


def test_what_here_prints_is_read_back(
    tmp_path: Path, hardcost: Compare, compared: Compare
) -> None:
    root = tmp_path / "root"
    (root / "etc/sysctl.d").mkdir(parents=True)
    (root / "etc/sysctl.d/a.conf").write_text("kernel.kptr_restrict = 2\nnet.core.x = 1\n")
    for name in ("one.json", "two.json"):
        looked = hardcost("here", "--root", str(root), "--format", "json")
        Path(name).write_text(looked.stdout)
        (root / "etc/sysctl.d/a.conf").write_text("kernel.yama.ptrace_scope = 1\n")
    ended = compared("one.json", "two.json")
    assert ended.status == 0
    assert "Added (1):\n  0.0%: kernel.yama.ptrace_scope=1" in ended.stdout
    assert "Removed, without a price (1):\n  not known: net.core.x=1" in ended.stdout

"""The command line: what an error becomes, and what goes to which stream."""

from __future__ import annotations

import errno
import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import click
import pytest

from auditrules.model.location import Location
from hardcost.cli import main
from hardcost.cli.command import hardcost
from hardcost.cli.verbs import list_
from hardcost.errors import HardcostError, InputError, Problem, StoreError, TrialError

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@pytest.fixture(autouse=True)
def _handlers_as_before() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in ENDING}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def status_of(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr("sys.argv", ["hardcost", *words])
    with pytest.raises(SystemExit) as ended:
        main.main()
    assert isinstance(ended.value.code, int)
    return ended.value.code


def status_after(monkeypatch: pytest.MonkeyPatch, error: BaseException) -> int:
    """Return the exit status of a command that ends with `error`."""

    def fail(*_: object) -> NoReturn:
        raise error

    monkeypatch.setattr(list_, "_entries", fail)
    return status_of(monkeypatch, "list", "studies")


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (InputError("no such file", place=Location("a.rules", 3)), 2, "error: a.rules:3: no such"),
        (TrialError("it died", hint="look"), 3, "error: it died\n  hint: look"),
        (StoreError("full"), 3, "error: full"),
        (MemoryError(), 3, "error: there is not enough memory"),
        (HardcostError("first\nsecond"), 3, "error: first\n       second"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (click.UsageError("which?"), 2, "Error: which?"),
        (click.exceptions.Exit(1), 1, ""),
        (OSError(errno.ENOSPC, "No space left on device", "/x/y"), 3, "error: /x/y: No space left"),
    ],
)
def test_every_error_has_its_exit_status_and_goes_to_stderr(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    error: BaseException,
    status: int,
    said: str,
) -> None:
    assert status_after(monkeypatch, error) == status
    out, err = capfd.readouterr()
    assert said in err
    assert "Traceback" not in err
    assert not out


def test_only_a_verb_that_can_resume_says_so_when_it_is_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    context = click.Context(hardcost)
    for name in hardcost.list_commands(context):
        verb = hardcost.get_command(context, name)
        assert verb is not None
        monkeypatch.setattr("sys.argv", ["hardcost", name])
        assert main._measures() is any(one.name == "resume" for one in verb.params), name


def test_all_problems_of_an_error_are_reported(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    problems = tuple(Problem(f"problem {n}", Location("f", n)) for n in range(1, 4))
    assert status_after(monkeypatch, InputError.of(problems)) == 2
    lines = capfd.readouterr().err.splitlines()
    assert lines == [f"error: f:{n}: problem {n}" for n in range(1, 4)]


def test_a_console_is_shown_by_its_end_and_without_control_characters(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    console = "".join(f"line {n}\n" for n in range(100)) + "\x1b[2Jbye\x07\n"
    assert status_after(monkeypatch, TrialError("it died", console=console)) == 3
    err = capfd.readouterr().err
    assert "line 99" in err
    assert "line 1\n" not in err
    assert r"\x1b[2Jbye\x07" in err
    assert "\x1b" not in err


@pytest.mark.parametrize(
    "words",
    [
        ("nonsense",),
        ("list",),
        ("list", "nonsense"),
        ("run",),
        ("run", "audit-rules", "--jobs", "0"),
        ("run", "audit-rules", "--fresh", "--resume"),
        ("run", "audit-rules", "--workload", "nonsense"),
        ("run", "no-such-study"),
        ("bill", "no-such-profile"),
        ("bill", "audit-samples", "--qemu", "debian:12"),
        ("bill", "audit-samples", "--guest", "debian:11"),
        ("doctor", "--qemu", "/nowhere"),
        ("doctor", "--guest", "trixie"),
        ("image", "build", "debian", "--guest", "debian:11"),
        ("rules", "cost", "/dev/null", "--guest", "debian:11"),
        ("rules", "cost", "/dev/null", "--qemu", "debian:13=;"),
        ("image", "remove"),
        ("report", "last", "--format", "xml"),
    ],
)
def test_bad_usage_ends_with_2_and_prints_nothing_to_stdout(
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    tmp_path: Path,
    words: tuple[str, ...],
) -> None:
    monkeypatch.setenv("HARDCOST_STORE", str(tmp_path / "store"))
    monkeypatch.setenv("HARDCOST_CACHE", str(tmp_path / "cache"))
    assert status_of(monkeypatch, *words) == 2
    out, err = capfd.readouterr()
    assert not out
    assert "rror: " in err


@pytest.mark.parametrize(
    "kind", ["profiles", "workloads", "instruments", "studies", "machines", "runs"]
)
def test_what_there_is_is_listed_as_text_and_as_json(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path, kind: str
) -> None:
    monkeypatch.setenv("HARDCOST_STORE", str(tmp_path / "store"))
    assert status_of(monkeypatch, "list", kind, "--format", "json") == 0
    rows = json.loads(capfd.readouterr().out)
    assert bool(rows) == (kind != "runs")
    assert status_of(monkeypatch, "list", kind) == 0
    text = "".join(capfd.readouterr().out.split())
    for row in rows:
        assert "".join(next(iter(row.values())).split()) in text


@pytest.mark.parametrize("verb", ["run", "bill", "report", "compare", "list", "doctor", "image"])
def test_every_verb_says_how_to_use_it(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], verb: str
) -> None:
    assert status_of(monkeypatch, verb, "--help") == 0
    assert "Example" in capfd.readouterr().out

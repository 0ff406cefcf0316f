from __future__ import annotations

import gzip
import time
from pathlib import Path

import pytest

from hardcost.errors import InputError
from hardcost.supply.kernels import config


def test_a_configuration_is_read_as_the_kernel_writes_it() -> None:
    text = """\
#
# Automatically generated file; DO NOT EDIT.
# Linux/x86 6.1.192 Kernel Configuration
#
CONFIG_CC_VERSION_TEXT="gcc (Debian 12.2.0) \\"12\\" \\\\"
CONFIG_A=y
CONFIG_B=m\r
# CONFIG_C is not set
CONFIG_64BIT=64
CONFIG_MASK=0x01b6
CONFIG_MINUS=-1
CONFIG_EMPTY=
CONFIG_STRING=""
CONFIG_A=n
# end of General setup
"""
    assert config.read(text, ".config") == {
        "CC_VERSION_TEXT": 'gcc (Debian 12.2.0) "12" \\',
        "A": "n",
        "B": "m",
        "C": "n",
        "64BIT": "64",
        "MASK": "0x01b6",
        "MINUS": "-1",
        "EMPTY": "",
        "STRING": "",
    }


@pytest.mark.parametrize(
    "line",
    [
        "nonsense",
        "CONFIG_X",
        "CONFIG_X=yes",
        "CONFIG_X y",
        "CONFIG_=y",
        "CONFIG_X =y",
        "CONFIG_X=\x00",
        'CONFIG_X="open',
        'CONFIG_X="a" b',
        'CONFIG_X="\x1b[2J"',
        "CONFIG_\u0416=y",
        "CONFIG_X=\u0663",
        'CONFIG_X="$(shell id)"',
        'CONFIG_X="`id`"',
        'CONFIG_X="\\$(shell id)"',
    ],
)
def test_a_line_that_is_none_is_reported_at_its_place(line: str) -> None:
    with pytest.raises(InputError) as caught:
        config.read(f"CONFIG_A=y\n{line}\n", "my.config")
    (problem,) = caught.value.problems
    assert str(problem.place) == "my.config:2"
    assert problem.message.isprintable()
    assert problem.hint


def test_only_so_many_lines_are_reported_of() -> None:
    with pytest.raises(InputError) as caught:
        config.read("nonsense\n" * 1000, "x")
    assert len(caught.value.problems) == 20


@pytest.mark.parametrize("text", ["", "\n\n", "# a comment\n"])
def test_a_file_without_options_is_an_error(text: str) -> None:
    with pytest.raises(InputError, match="no option of a kernel"):
        config.read(text, "x")


def test_reading_takes_time_in_proportion_to_the_length() -> None:
    hostile = 'CONFIG_X="' + '\\"' * 1_000_000
    started = time.monotonic()
    with pytest.raises(InputError):
        config.read(hostile, "x")
    assert time.monotonic() - started < 5


def test_options_are_written_as_they_are_read() -> None:
    options = {"A": "y", "B": "n", "C": "12", "D": "0x1f", "E": 'a "b" \\ c', "F": ""}
    text = config.lines(options.items())
    assert config.read(text, "x") == options
    assert text.splitlines()[1] == "# CONFIG_B is not set"


def test_the_base_that_comes_with_hardcost_is_a_configuration() -> None:
    assert config.bases() == ("lean",)
    lean = config.read(config.base_text("lean"), "lean")
    assert lean["AUDITSYSCALL"] == "y"
    # No hardening by the compiler's defaults.
    assert lean["INIT_STACK_NONE"] == "y"
    assert lean["STACKPROTECTOR"] == "n"


def test_a_base_may_be_a_file(tmp_path: Path) -> None:
    own = tmp_path / "my.config"
    own.write_text("CONFIG_A=y\n")
    assert config.base_text(str(own)) == "CONFIG_A=y\n"


def test_a_base_that_is_none_is_reported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no such file") as caught:
        config.base_text(str(tmp_path / "none"))
    assert "lean" in (caught.value.problems[0].hint or "")
    wrong = tmp_path / "wrong"
    wrong.write_text("hello\n")
    with pytest.raises(InputError, match="no line of a kernel's configuration") as caught:
        config.base_text(str(wrong))
    assert str(caught.value.problems[0].place) == f"{wrong}:1"


def test_a_configuration_that_unpacks_to_far_more_is_refused(tmp_path: Path) -> None:
    bomb = tmp_path / "config.gz"
    bomb.write_bytes(gzip.compress(b"# x\n" * (50 << 20)))
    with pytest.raises(InputError, match="is larger than 4 MiB"):
        config.file_text(bomb)
    bomb.write_bytes(gzip.compress(b"CONFIG_A=y\n" * 99)[:40])
    with pytest.raises(InputError, match="it ends too early"):
        config.file_text(bomb)


@pytest.mark.parametrize("place", ["/dev/zero", "/"])
def test_a_configuration_is_a_file(place: str) -> None:
    with pytest.raises(InputError, match="it is a "):
        config.file_text(Path(place))

"""`hardcost list kernel-options`: files of all kinds beside what was published."""

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from hardcost.cli.commands.listing import list_
from hardcost.errors import InputError


def listed(*words: str) -> str:
    done = CliRunner().invoke(list_, ["kernel-options", *words], catch_exceptions=False)
    assert done.exit_code == 0
    return done.stdout


def test_files_plain_and_packed_stand_beside_the_published_columns(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("CONFIG_AUDIT=y\n# CONFIG_IMA is not set\n")
    (tmp_path / "packed.gz").write_bytes(gzip.compress(b"CONFIG_AUDIT=m\n"))
    files = ("--config", str(tmp_path / "plain"), str(tmp_path / "packed.gz"))
    data = json.loads(listed(*files, "--format", "json"))
    assert [column["published"] for column in data["columns"]] == [False, False, True, True, True]
    values = {row["option"]: row["values"] for row in data["options"]}
    assert values["AUDIT"] == ["y", "m", "y", "y", "unset"]
    assert values["IMA"] == ["unset", "absent", "y", "y", "unset"]
    assert values["SECURITY_SELINUX"] == ["absent", "absent", None, None, None]


def test_the_table_marks_what_differs_and_can_leave_out_the_rest(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("CONFIG_AUDIT=y\nCONFIG_SECURITY=y\n")
    (tmp_path / "b").write_text("CONFIG_AUDIT=y\nCONFIG_SECURITY=y\nCONFIG_EVM=y\n")
    text = listed("--config", str(tmp_path / "a"), "--config", str(tmp_path / "b"), "--differing")
    lines = {line.split()[0]: line for line in text.splitlines() if line}
    assert lines["EVM"].split()[1:3] == ["absent", "y"]
    assert "≠" in lines["AUDIT"]
    assert "SECURITY" not in lines


def test_a_damaged_archive_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "config.gz").write_bytes(gzip.compress(b"CONFIG_AUDIT=y\n" * 99)[:-9])
    with pytest.raises(InputError, match="can't be read"):
        listed(str(tmp_path / "config.gz"))


def test_files_go_with_kernel_options_alone(tmp_path: Path) -> None:
    done = CliRunner().invoke(list_, ["profiles", "--config", str(tmp_path)])
    assert done.exit_code == 2

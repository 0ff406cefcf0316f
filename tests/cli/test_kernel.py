"""`hardcost kernel`: of a source that takes no time to build."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from hardcost.cli.verbs.kernel import kernel
from hardcost.errors import InputError
from tests.supply.kernels import linux
from tests.supply.kernels.linux import AUDIT, THREE


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with a source and patches to it, in which the command runs."""
    monkeypatch.setenv("HARDCOST_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    linux.make(tmp_path / "linux")
    (tmp_path / "my.patch").write_text(THREE)
    (tmp_path / "fixes").mkdir()
    for name, text in {"1.patch": ("-three", "-THREE"), "2.patch": ("-three", "-3")}.items():
        (tmp_path / "fixes" / name).write_text(
            THREE.replace(*text).replace("+THREE", "+3" if name == "1.patch" else "+III")
        )
    return tmp_path


def invoke(*words: str) -> Result:
    return CliRunner().invoke(kernel, list(words), catch_exceptions=False)


def data(*words: str) -> Any:  # noqa: ANN401  (JSON)
    done = invoke(*words, "--format", "json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_a_source_of_ones_own_is_built_with_patches_in_the_order_given(folder: Path) -> None:
    words = (
        "build",
        "--allow-unconfined-build",
        "--source",
        "linux",
        "--patch",
        "my.patch",
        "--patch",
        "fixes",
    )
    (found,) = data(*words)
    assert found["patches"] == ["my.patch", "fixes/1.patch", "fixes/2.patch"]
    assert Path(found["image"]).read_text() == AUDIT.replace("three", "III")
    assert (folder / "linux/kernel/audit.c").read_text() == AUDIT
    (stock,) = data("build", "--allow-unconfined-build", "--source", "linux")
    assert stock["patches"] == []
    assert {one["name"] for one in data("list")} == {found["name"], stock["name"]}


def test_the_list_tells_patches_folders_by_their_name_and_number(folder: Path) -> None:
    assert folder.exists()
    invoke(
        "build",
        "--allow-unconfined-build",
        "--source",
        "linux",
        "--patch",
        "my.patch",
        "--patch",
        "fixes",
    )
    assert "my.patch, fixes (2)" in " ".join(invoke("list").stdout.split())


def test_a_kernel_built_before_there_were_patches_has_none(folder: Path) -> None:
    (stock,) = data("build", "--allow-unconfined-build", "--source", "linux")
    about = folder / "cache/kernels" / stock["name"] / "about.json"
    known = json.loads(about.read_text())
    del known["patches"]
    about.write_text(json.dumps(known))
    (about.parent / "manifest").unlink()
    assert data("list") == [stock]


def test_a_patch_that_is_none_is_refused(folder: Path) -> None:
    (folder / "text").write_text("hello\n")
    for word, message in {"text": "no diff", "missing": "no patch missing"}.items():
        with pytest.raises(InputError, match=message):
            invoke("build", "--allow-unconfined-build", "--source", "linux", "--patch", word)

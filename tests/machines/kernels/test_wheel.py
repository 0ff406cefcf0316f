"""The series of patches that comes with hardcost is in what is installed."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

from hardcost.machines.kernels import patches

PROJECT = Path(__file__).parents[3]
NAMES = (
    "from hardcost.machines.kernels import patches as p; print([x.name for x in p.read(['flat'])])"
)


def test_a_wheel_holds_the_series_of_patches_and_finds_it(tmp_path: Path) -> None:
    built = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    subprocess.run(built, cwd=PROJECT, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as file:
        file.extractall(installed)
    found = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(installed)!r}); {NAMES}"],
        cwd=tmp_path,
        check=True,
        capture_output=True,
        text=True,
    )
    assert found.stdout.strip() == str([patch.name for patch in patches.read(["flat"])])
    (series,) = (installed / "hardcost/machines/kernels/series").iterdir()
    assert not series.is_symlink()
    assert {one.name for one in series.glob("0*.patch")} >= {
        patch.name.rpartition("/")[2] for patch in patches.read(["flat"])
    }

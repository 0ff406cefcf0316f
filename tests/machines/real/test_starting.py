"""The command that starts the probe: any folder, and no processor where there is no taskset."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

from hardcost.machines.real import starting

if TYPE_CHECKING:
    from pathlib import Path


def test_a_scratch_folder_goes_with_the_probe_whatever_its_status(tmp_path: Path) -> None:
    probe = tmp_path / "hardcost-probe"
    probe.write_text('#!/bin/sh\necho "$PWD $1 $2"; touch left; exit 3\n')
    probe.chmod(0o755)
    scratch = tmp_path / "scratch"
    argv = starting.words(str(tmp_path), None, str(scratch), 1.5)
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.stdout == f"{scratch} serve 2\n"
    assert done.returncode == 3
    assert not scratch.exists()


def test_without_taskset_the_probe_starts_all_the_same(tmp_path: Path) -> None:
    probe = tmp_path / "hardcost-probe"
    probe.write_text("#!/bin/sh\necho started\n")
    probe.chmod(0o755)
    (tmp_path / "sh").symlink_to("/bin/sh")
    argv = ["/bin/sh", *starting.words(str(tmp_path), 0, None, 1)[1:]]
    done = subprocess.run(
        argv, capture_output=True, text=True, check=False, env={"PATH": str(tmp_path)}
    )
    assert done.stdout == "started\n"


def test_the_hash_stands_for_all_three_programs(tmp_path: Path) -> None:
    for name in starting.PROGRAMS:
        (tmp_path / name).write_text(name)
    one = starting.programs_hash(tmp_path)
    (tmp_path / starting.PROGRAMS[2]).write_text("other")
    assert starting.programs_hash(tmp_path) != one

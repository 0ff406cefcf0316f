"""What the plugin noted is read, and refused where it makes no sense."""

from pathlib import Path

import pytest

from hardcost.errors import TrialError
from hardcost.protocol.plugin.schedule import Schedule, ScheduleNote
from hardcost.protocol.plugin.stacks import read

BEGIN = "profile 1\nplace 0 process a\nplace 1 kernel f\n"
WINDOW = "stretch 10 0 2:10\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "profile"
    path.write_text(f"{BEGIN}{text}end\n")
    return path


def test_notes_belong_to_the_window_before_them(tmp_path: Path) -> None:
    noted = (
        "task a\ntask two\\nlines\nruns 0 1 0\nwakes 3 2 2\nbegins 4 2\nleaves 9\nreads 10\ncut\n"
    )
    first, second = read(written(tmp_path, f"{WINDOW}{noted}{WINDOW}")).windows
    notes = (
        ScheduleNote("runs", 0, 1),
        ScheduleNote("wakes", 3, 2, 2),
        ScheduleNote("begins", 4, place=2),
        ScheduleNote("leaves", 9),
        ScheduleNote("reads", 10),
    )
    assert first.schedule == Schedule(("a", "two\nlines"), notes, is_cut=True)
    assert second.schedule is None


@pytest.mark.parametrize(
    "line",
    [
        "runs 0 2 0",  # there is no such process
        "begins 0 3",  # nor such a place
        "runs 11 1 0",  # behind the window's end
        "leaves 5\nleaves 4",  # back in time
        "runs 0 1",
        "leaves x",
        "dances 0",
        "wakes -1 1 0",
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(TrialError, match="can't be used"):
        read(written(tmp_path, f"{WINDOW}task a\n{line}\n"))


def test_nothing_is_noted_before_a_window(tmp_path: Path) -> None:
    with pytest.raises(TrialError, match="can't be used"):
        read(written(tmp_path, "leaves 1\n"))

"""What the plugin writes is read as the hostile text that it is."""

from pathlib import Path

import pytest

from hardcost.errors import TrialError
from hardcost.model.call_tree import Frame
from hardcost.protocol.plugin.stacks import CountedWindow, Stacks, read

PLACES = "profile 1\nplace 0 process a\\nb \\u{7}\nplace 1 kernel f g\n"


def read_text(folder: Path, text: str) -> Stacks:
    path = folder / "profile"
    path.write_text(text)
    return read(path)


def test_places_and_stretches_are_read(tmp_path: Path) -> None:
    found = read_text(tmp_path, f"{PLACES}stretch 7 1 1:3 2:4\nstretch 0 0\nend\n")
    places = (Frame(0, "process", "a\nb \x07"), Frame(1, "kernel", "f g"))
    assert found == Stacks(places, (CountedWindow(7, 1, ((1, 3), (2, 4))), CountedWindow(0, 0, ())))


@pytest.mark.parametrize(
    "rest",
    [
        "",
        "end",
        "stretch 7 0 1:7\n",
        "stretch 7 0 1:6\nend\n",
        "stretch 7 0 3:7\nend\n",
        "stretch -7 0 1:-7\nend\n",
        "stretch 7 -1 1:7\nend\n",
        "stretch\nend\n",
        "stretch 7 0\nprocessor 1 1:7\nend\n",
        "stretch 7 0\nprocessor 0 1:6\nend\n",
        "stretch 7 0 1:7\nprocessor 0 1:0\nend\n",
        "processor 0 1:7\nend\n",
        "place 3 kernel f\nend\n",
        "place 0 other f\nend\n",
        "else\nend\n",
    ],
)
def test_what_makes_no_sense_fails_the_trial(tmp_path: Path, rest: str) -> None:
    with pytest.raises(TrialError, match="can't be used"):
        read_text(tmp_path, PLACES + rest)


def test_a_missing_file_fails_the_trial(tmp_path: Path) -> None:
    with pytest.raises(TrialError, match="can't be used"):
        read(tmp_path / "profile")


def test_several_processors_have_a_line_each(tmp_path: Path) -> None:
    text = f"{PLACES}stretch 7 0\nprocessor 0 1:3\nprocessor 1\nprocessor 2 1:1 2:3\nend\n"
    (window,) = read_text(tmp_path, text).windows
    assert window == CountedWindow(7, 0, (), processors=(((1, 3),), (), ((1, 1), (2, 3))))

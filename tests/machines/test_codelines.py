"""Lines travel in the names of pieces of code, to the plugin and back."""

from hardcost.machines.codelines import Lines, named, piece, split
from hardcost.machines.stacks import Place, Stacks


def test_a_pieces_name_has_function_and_line() -> None:
    assert split(piece("f.cold", "kernel/a.c:12")) == ("f.cold", "kernel/a.c:12")
    assert split("f") == ("f", "")


def test_the_piece_that_keeps_the_functions_name_gets_its_line() -> None:
    places = (Place(0, "process", "f"), Place(1, "kernel", "f"), Place(2, "kernel", "g"))
    seen = named(Stacks(places, ()), Lines("f", "a.c:1"))
    assert seen is not None
    assert [place.name for place in seen.places] == ["f", "f@a.c:1", "g"]


def test_without_lines_names_stay() -> None:
    seen = Stacks((Place(0, "process", "f"),), ())
    assert named(seen, Lines()) is seen
    assert named(None, Lines("f", "a.c:1")) is None

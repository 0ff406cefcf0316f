"""Lines travel in the names of pieces of code, to the plugin and back."""

from auditrules.model.location import Location
from hardcost.model.call_tree import Frame
from hardcost.protocol.plugin.lines import FunctionLines, add_first_line, piece, split_name
from hardcost.protocol.plugin.stacks import Stacks

LINE = Location("kernel/a.c", 12)


def test_a_pieces_name_has_function_and_line() -> None:
    assert split_name(piece("f.cold", LINE)) == ("f.cold", LINE)
    assert split_name("f") == ("f", None)


def test_the_piece_that_keeps_the_functions_name_gets_its_line() -> None:
    places = (Frame(0, "process", "f"), Frame(1, "kernel", "f"), Frame(2, "kernel", "g"))
    seen = add_first_line(Stacks(places, ()), FunctionLines("f", Location("a.c", 1)))
    assert seen is not None
    assert [place.name for place in seen.frames] == ["f", "f@a.c:1", "g"]


def test_without_lines_names_stay() -> None:
    seen = Stacks((Frame(0, "process", "f"),), ())
    assert add_first_line(seen, FunctionLines()) is seen
    assert add_first_line(None, FunctionLines("f", Location("a.c", 1))) is None

"""A function's lines add up to the function, and its callees count for the line that calls them."""

from auditrules.model.location import Location
from hardcost.analysis.calls.hotspots import hotspots_of
from hardcost.model.call_tree import CallTree, Frame
from hardcost.model.finding.calls import Hotspots, SourceLine
from hardcost.store.record import Record
from tests.analysis.calls.test_hotspots import ROLES, record

FRAMES = (
    Frame(above=0, kind="process", name="p"),
    Frame(above=1, kind="kernel", name="f", at=Location("a.c", 1)),
    Frame(above=1, kind="kernel", name="f", at=Location("a.c", 7)),
    Frame(above=3, kind="kernel", name="g"),
)


def lined(name: str, windows: list[dict[int, int]]) -> Record:
    one = record(name, windows)
    assert one.calls is not None
    calls = CallTree(frames=FRAMES, metrics=one.calls.metrics)
    texts = ((1, "f()"), (2, ""), (7, "    g();"))
    source = {Location("a.c", line): text for line, text in texts}
    return one.model_copy(update={"calls": calls, "source": source})


def found() -> Hotspots:
    before, after = lined("without", [{2: 10, 3: 1}]), lined("with", [{2: 10, 3: 4, 4: 50}])
    (one,) = hotspots_of([before, after], *ROLES)
    return one


def test_each_line_has_its_instructions_and_text() -> None:
    source = found().source
    assert source is not None
    assert source.function == "f"
    assert source.lines == (
        SourceLine("a.c", 1, "f()", 10, 10, 10, 10),
        SourceLine("a.c", 2, ""),
        SourceLine("a.c", 7, "    g();", 1, 4, 1, 54),
    )


def test_lines_are_one_function_everywhere_else() -> None:
    one = found()
    function = next(each for each in one.functions if each.function == "f")
    assert (function.own_before, function.own_after, function.total_after) == (11, 14, 64)
    assert [stack.functions for stack in one.stacks if "f" in stack.functions] == [
        ("p", "f"),
        ("p", "f", "g"),
    ]
    assert sum(each.own for each in one.functions) == one.cost


def test_without_lines_there_is_no_source() -> None:
    (one,) = hotspots_of([record("without", [{2: 10}]), record("with", [{2: 11}])], *ROLES)
    assert one.source is None

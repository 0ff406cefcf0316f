"""A function's lines add up to the function, and its callees count for the line that calls them."""

from tests.analysis.test_profiled import record

from hardcost.analysis.finding import Line, Profiled
from hardcost.analysis.profiled import profiled
from hardcost.instruments.windows import Frame, Profile
from hardcost.store.record import Record

FRAMES = (
    Frame(above=0, kind="process", name="p"),
    Frame(above=1, kind="kernel", name="f", at="a.c:1"),
    Frame(above=1, kind="kernel", name="f", at="a.c:7"),
    Frame(above=3, kind="kernel", name="g"),
)


def lined(name: str, windows: list[dict[int, int]]) -> Record:
    one = record(name, windows)
    assert one.profile is not None
    profile = Profile(frames=FRAMES, metrics=one.profile.metrics)
    source = {"a.c:1": "f()", "a.c:2": "", "a.c:7": "    g();"}
    return one.model_copy(update={"profile": profile, "source": source})


def found() -> Profiled:
    before, after = lined("without", [{2: 10, 3: 1}]), lined("with", [{2: 10, 3: 4, 4: 50}])
    (one,) = profiled([before, after], "without", "with")
    return one


def test_each_line_has_its_instructions_and_text() -> None:
    source = found().source
    assert source is not None
    assert source.function == "f"
    assert source.lines == (
        Line("a.c", 1, "f()", 10, 10, 10, 10),
        Line("a.c", 2, ""),
        Line("a.c", 7, "    g();", 1, 4, 1, 54),
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
    (one,) = profiled([record("without", [{2: 10}]), record("with", [{2: 11}])], "without", "with")
    assert one.source is None

"""A cheaper set of audit rules that records the same."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace

from auditrules.cost.constants import Constants
from auditrules.cost.histogram import general
from auditrules.cost.predict import Histogram
from auditrules.library.caller import Caller
from auditrules.library.reading import RulesRequest, read
from auditrules.optimize.optimize import OptimizeOptions, more_if_thorough, optimise
from auditrules.optimize.result import Cheaper, by_release, is_unchanged
from auditrules.prove.event_text import difference_words
from auditrules.prove.relation import Result
from auditrules.tables.lookup import RELEASES, Release


@dataclass(frozen=True)
class OptimizeRequest(RulesRequest):
    """A request to make rules cheaper for a `mix` of calls, by the changes of `options`."""

    _: KW_ONLY
    mix: Histogram = field(default_factory=general)
    options: OptimizeOptions = field(default_factory=OptimizeOptions)


def optimize(request: OptimizeRequest, caller: Caller | None = None) -> Cheaper:
    """Make rules cheaper, and prove that they record the same; nothing is written.

    Raises:
        InputError: A rule can't be read or loaded.
    """
    caller = caller or Caller()
    rules = read(request, caller)
    constants, mix = Constants.of_debian(), request.mix
    options = replace(request.options, likely_directory=rules.likely)
    with caller.work() as tell:
        made = optimise(rules.loaded, constants, mix, options, tell)
        tell("proving the result for other releases of Linux")
        results = {} if is_unchanged(made) else by_release(made, rules)
        more = 0.0 if options.thorough else more_if_thorough(made, tell)
    for release, result in results.items():
        _note_unequal(release, result, caller)
    equal = tuple(release for release, result in results.items() if result.equal)
    proved = RELEASES if is_unchanged(made) else equal
    return Cheaper(made, rules, proved, more, caller.program, f"{caller.verbs} optimize")


def _note_unequal(release: Release, result: Result, caller: Caller) -> None:
    if result.difference is not None:
        shown = difference_words(result.difference)
        caller.note(
            f"under Linux {release} the new rules do not record the same; for example: {shown}"
        )
    elif not result.equal:
        said = "the new rules are not proved to record the same"
        caller.note(f"under Linux {release} {said}: {result.reason}")

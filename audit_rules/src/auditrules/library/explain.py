"""The rule that decides whether a call is recorded, and the cost of each rule for it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from auditrules.cost.constants import Constants
from auditrules.explain.explain import Explanation, explain_event
from auditrules.explain.read_event import parse_event
from auditrules.kernel.field_tests import UnresolvedError
from auditrules.library.caller import Caller
from auditrules.library.reading import RulesRequest, read
from auditrules.load.loaded_set import LoadedSet
from auditrules.model.errors import RequestError


@dataclass(frozen=True)
class ExplainRequest(RulesRequest):
    """A request to explain a call, which `event` describes by FIELD=VALUE."""

    _: KW_ONLY
    event: str


def explain(request: ExplainRequest, caller: Caller | None = None) -> tuple[Explanation, LoadedSet]:
    """Follow a call through rules; return its outcome, and the rules.

    Raises:
        InputError: The rules or the call can't be read, or a rule names an unknown user.
    """
    caller = caller or Caller()
    rules = read(request, caller)
    try:
        with caller.work() as tell:
            tell("following the call")
            event = parse_event(request.event)
            return explain_event(rules.guessed, event, Constants.of_debian()), rules
    except UnresolvedError as error:
        hint = "resolve them with `passwd` and `group`, or write numbers in the rules"
        raise RequestError(str(error), hint=hint) from error

"""Which rule decides whether a call is recorded, and what each rule costs it."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

from auditrules.cost.constants import Constants
from auditrules.explain.explain import Explanation, explain_event
from auditrules.explain.read_event import parse_event
from auditrules.kernel.field_tests import UnresolvedError
from auditrules.load.loaded_set import LoadedSet
from auditrules.model.fault import RulesError
from hardcost.errors import InputError, RequestError
from hardcost.library.rules.reading import RulesRequest, read
from hardcost.measure.monitor import Monitor, Silent
from hardcost.mechanisms.audit import problems_of


@dataclass(frozen=True)
class ExplainRequest(RulesRequest):
    """What is asked: `event` describes the call by FIELD=VALUE."""

    _: KW_ONLY
    event: str


def explain(
    request: ExplainRequest, monitor: Monitor | None = None
) -> tuple[Explanation, LoadedSet]:
    """Follow a call through rules; return what happens to it, and the rules.

    Raises:
        InputError: The rules or the call can't be read, or a rule names an unknown user.
    """
    monitor = monitor or Silent()
    rules = read(request, monitor)
    try:
        with monitor.work() as tell:
            tell("following the call")
            event = parse_event(request.event)
            return explain_event(rules.guessed, event, Constants.of_debian()), rules
    except RulesError as error:
        raise InputError.of(problems_of(error)) from error
    except UnresolvedError as error:
        hint = "resolve them with `passwd` and `group`, or write numbers in the rules"
        raise RequestError(str(error), hint=hint) from error

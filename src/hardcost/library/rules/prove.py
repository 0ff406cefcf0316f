"""Whether two sets of audit rules record the same."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace

from auditrules.load.loaded_set import LoadedSet
from auditrules.prove.prove import DEFAULT_SECONDS, prove_equal
from auditrules.prove.relation import ProverError, Relation, Result
from auditrules.prove.result import Proved
from hardcost.errors import InputError, Problem
from hardcost.library.profiles import check_once
from hardcost.library.rules.reading import RulesRequest, read
from hardcost.measure.monitor import Monitor, Silent


@dataclass(frozen=True)
class ProveRequest(RulesRequest):
    """What is asked of two sets, which are named by one text each.

    `seconds` of processor time bound the search for an answer.
    """

    _: KW_ONLY
    relation: Relation
    seconds: float = DEFAULT_SECONDS


def prove(request: ProveRequest, monitor: Monitor | None = None) -> Proved:
    """Prove that two sets treat every event alike, or find one that they do not.

    Raises:
        InputError: A rule can't be read or loaded; the problems of both sets are reported at once.
    """
    monitor = monitor or Silent()
    check_once(request.texts)
    a, b = _read(request, monitor)
    relation, release = request.relation, request.target.release
    try:
        with monitor.work() as tell:
            tell("comparing the two sets")
            result = prove_equal(a.loaded, b.loaded, relation, request.seconds, release)
    except ProverError as error:
        found = "the prover found a difference that the model of the kernel does not confirm"
        result = Result(None, relation, reason=f"{found}, which is a bug in hardcost: {error}")
    return Proved(result, a, b)


def _read(request: ProveRequest, monitor: Monitor) -> tuple[LoadedSet, LoadedSet]:
    found: list[LoadedSet] = []
    problems: list[Problem] = []
    for text in request.texts:
        try:
            found.append(read(replace(request, texts=(text,)), monitor))
        except InputError as error:
            problems.extend(error.problems)
    if problems:
        raise InputError.of(tuple(problems))
    a, b = found
    return a, b

"""Whether two sets of audit rules record the same."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace

from auditrules.library.arguments import check_once
from auditrules.library.caller import Caller
from auditrules.library.reading import RulesRequest, read
from auditrules.load.loaded_set import LoadedSet
from auditrules.model.errors import InputError, Problem
from auditrules.prove.prove import DEFAULT_SECONDS, prove_equal
from auditrules.prove.relation import ProverError, Relation, Result
from auditrules.prove.result import Proved


@dataclass(frozen=True)
class ProveRequest(RulesRequest):
    """A request to compare two sets, each named by one text.

    `seconds` of processor time bound the search for an answer.
    """

    _: KW_ONLY
    relation: Relation
    seconds: float = DEFAULT_SECONDS


def prove(request: ProveRequest, caller: Caller | None = None) -> Proved:
    """Prove that two sets treat every event alike, or find one that they do not.

    Raises:
        InputError: A rule can't be read or loaded; the problems of both sets are reported at once.
    """
    caller = caller or Caller()
    check_once(request.texts)
    a, b = _read(request, caller)
    relation, release = request.relation, request.target.release
    try:
        with caller.work() as tell:
            tell("comparing the two sets")
            result = prove_equal(a.loaded, b.loaded, relation, request.seconds, release)
    except ProverError as error:
        found = "the prover found a difference that the model of the kernel does not confirm"
        bug = f"which is a bug in {caller.program}"
        result = Result(None, relation, reason=f"{found}, {bug}: {error}")
    return Proved(result, a, b)


def _read(request: ProveRequest, caller: Caller) -> tuple[LoadedSet, LoadedSet]:
    found: list[LoadedSet] = []
    problems: list[Problem] = []
    for text in request.texts:
        try:
            found.append(read(replace(request, texts=(text,)), caller))
        except InputError as error:
            problems.extend(error.problems)
    if problems:
        raise InputError.of(tuple(problems))
    a, b = found
    return a, b

"""The one loop that asks: a coroutine asks, a run measures the answer, until there is a result.

Whoever decides what to measure next is a pure coroutine, such as the search for culprits, advice on
a budget, or the verification of a bill: it knows no machine, and the same answers always lead to
the same questions.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import TypeVar

_Question = TypeVar("_Question")
_Answer = TypeVar("_Answer")
_Result = TypeVar("_Result")


def answer_questions(
    asking: Generator[_Question, _Answer, _Result], answer: Callable[[_Question], _Answer]
) -> _Result:
    """Answer each question until the asking ends, and return its result."""
    try:
        question = next(asking)
    except StopIteration as ended:
        nothing_asked: _Result = ended.value
        return nothing_asked
    while True:
        found = answer(question)
        try:
            question = asking.send(found)
        except StopIteration as ended:
            result: _Result = ended.value
            return result

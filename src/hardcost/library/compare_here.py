"""Two answers of what the hardening of a machine costs, side by side."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hardcost.analysis.change.here import compare_answers
from hardcost.analysis.results_file import here_answer_of
from hardcost.model.finding.here_comparison import HereComparison
from hardcost.model.request import CheckedRequest


@dataclass(frozen=True)
class CompareHereRequest(CheckedRequest):
    """Two files of what `hardcost here --format json` printed: the earlier and the later one."""

    before: Path
    after: Path


def compare_here(request: CompareHereRequest) -> HereComparison:
    """Return what changed from one answer to the other, and by how much.

    Raises:
        InputError: A file can't be read, or is no answer of `here`.
    """
    CompareHereRequest.expect(request)
    return compare_answers(here_answer_of(request.before), here_answer_of(request.after))

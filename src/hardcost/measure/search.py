"""A search for culprits, carried out: it asks for configurations, a run measures them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Sequence

from hardcost.analysis.bill.culprits import guide_samples
from hardcost.measure.asking import answer_questions
from hardcost.measure.run import Run
from hardcost.model.role import Baseline, Role
from hardcost.plan.plan import Plan
from hardcost.plan.search import culprits
from hardcost.plan.search.culprits import Suspects
from hardcost.plan.search.group_testing import search
from hardcost.plan.search.questions import Question, Samples, SearchResult, SearchSettings
from hardcost.store.record import Record


class Search:
    """Measures in a run what a search asks for; `records` are all of them, the first plan's too."""

    def __init__(self, run: Run, plan: Plan, found: Suspects, records: Sequence[Record]) -> None:
        self.records = list(records)
        self._run = run
        self._plan = plan
        self._found = found
        self._baseline = [one for one in records if one.role == Baseline()]
        self._taken: Counter[Role] = Counter()
        self._first = {one.role for one in records}

    def outcome(self, settings: SearchSettings) -> SearchResult:
        """Search to the end; the run's monitor hears of each configuration before it is measured.

        Raises:
            HardcostError: A trial failed.
        """
        return answer_questions(search(self._found.problem, settings), self._answer)

    def _answer(self, question: Question) -> Samples:
        role = culprits.role_with(question.on, len(self._found.switched))
        if role in self._first and not self._taken[role]:
            mine = [one for one in self.records if one.role == role]
            samples = guide_samples(mine, self._baseline)
            self._taken[role] = len(samples)
            if len(samples) >= question.repetitions:
                return samples[: question.repetitions]
            rest = dataclasses.replace(question, repetitions=question.repetitions - len(samples))
            return (*samples, *self._measure_question(role, rest))
        return self._measure_question(role, question)

    def _measure_question(self, role: Role, question: Question) -> Samples:
        number = len({*self._first, *self._taken, role})
        on = f"{len(question.on)} of {len(self._found.switched)} on"
        self._run.monitor.note(f"configuration {number}: {role} ({on}): {question.why}")
        plan = culprits.plan_of_question(self._plan, self._found, question, self._taken[role])
        self._taken[role] += question.repetitions
        records = self._run.measure_plan(plan).records
        self.records.extend(records)
        return guide_samples(records, self._baseline)

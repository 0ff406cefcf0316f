"""A search for culprits, carried out: it asks for configurations, a run measures them."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import TYPE_CHECKING

from hardcost.analysis import blamed
from hardcost.design import culprits
from hardcost.design.group_testing import search
from hardcost.design.leave_one_out import BASELINE

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.design.culprits import Suspects
    from hardcost.design.group_testing import Answer, Outcome, Question, Settings
    from hardcost.design.plan import Plan
    from hardcost.run.session import Run
    from hardcost.store.record import Record


class Search:
    """Measures in a run what a search asks for; `records` are all of them, the first plan's too."""

    def __init__(self, run: Run, plan: Plan, found: Suspects, records: Sequence[Record]) -> None:
        """Begin with the `records` of the search's first `plan`."""
        self.records = list(records)
        self._run = run
        self._plan = plan
        self._found = found
        self._baseline = [one for one in records if one.configuration == BASELINE]
        self._taken: Counter[str] = Counter()
        self._first = {one.configuration for one in records}

    def outcome(self, settings: Settings) -> Outcome:
        """Search to the end; the run's monitor hears of each configuration before it is measured.

        Raises:
            HardcostError: A trial failed.
        """
        asking = search(self._found.problem, settings)
        question = next(asking)
        while True:
            answer = self._answer(question)
            try:
                question = asking.send(answer)
            except StopIteration as ended:
                outcome: Outcome = ended.value
                return outcome

    def _answer(self, question: Question) -> Answer:
        name = culprits.name_of(question.on, len(self._found.switched))
        if name in self._first and not self._taken[name]:
            mine = [one for one in self.records if one.configuration == name]
            samples = blamed.guide(mine, self._baseline)
            self._taken[name] = len(samples)
            if len(samples) >= question.repetitions:
                return samples[: question.repetitions]
            rest = dataclasses.replace(question, repetitions=question.repetitions - len(samples))
            return (*samples, *self._measured(name, rest))
        return self._measured(name, question)

    def _measured(self, name: str, question: Question) -> Answer:
        number = len({*self._first, *self._taken, name})
        on = f"{len(question.on)} of {len(self._found.switched)} on"
        self._run.monitor.note(f"configuration {number}: {name} ({on}): {question.why}")
        plan = culprits.asked(self._plan, self._found, question, self._taken[name])
        self._taken[name] += question.repetitions
        records = self._run.measure_more(plan)
        self.records.extend(records)
        return blamed.guide(records, self._baseline)

"""A gate that measures: both states of a profile, and each without one line of the change."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hardcost.analysis.change.measurement import growths, lines_by_role, only_rule
from hardcost.analysis.change.runs import conditions
from hardcost.analysis.estimates.estimates import cells
from hardcost.controls.control import Profile
from hardcost.instruments.insn import INSN
from hardcost.library.gates.lines import LinesOfState, MeasuredLines, measure_lines
from hardcost.library.gates.sides import Profiles
from hardcost.library.measurement import Foreseen, Measuring, PlannedRun, finish_run, notes_of
from hardcost.measure.monitor import Monitor
from hardcost.measure.run import Run
from hardcost.model.finding.change import ChangeLine, Gate
from hardcost.model.finding.study import StudyFinding
from hardcost.model.role import Base, Baseline, Named, Role, Whole, Without
from hardcost.plan.baseline import baseline_in_words
from hardcost.plan.change import Changes, changes, payer, whole_plan
from hardcost.plan.plan import Plan
from hardcost.plan.several import make_alike
from hardcost.store.record import Record
from hardcost.units import count


@dataclass(frozen=True)
class MeasuredGate:
    """A change that is to be measured.

    A change that the kernel does not see is not measured line by line, and its two states, which
    are one, are measured once.
    """

    both: Profiles
    how: Measuring
    most_lines: int
    monitor: Monitor

    def preview(self) -> Foreseen:
        """Return the plan of the measurement."""
        return self._plan_run()[2].preview()

    def gate(self) -> Gate:
        """Return the measured cost of the change; the run is saved.

        Raises:
            HardcostError: Something is wrong with the input, the machine, a trial or the store.
        """
        changed = changes(self.both.base, self.both.head)
        base, head, planned = self._plan_run()
        plan = planned.plan
        with planned.begin_run() as run:
            measured = run.measure()
            records = measured.records
            lines = lines_by_role(base, head, changed)
            kept = _first(changed, self.most_lines)
            of_lines = MeasuredLines((), {})
            if any(one.distinguishable for one in growths(records, {})):
                states = (
                    LinesOfState(Whole(), head, kept.added),
                    LinesOfState(Base(), base, kept.removed),
                )
                of_lines = measure_lines(plan, states, run, records, self.how)
                records = (*records, *of_lines.records)
            pays = payer(base, head)
            found = growths(
                records,
                lines,
                payer=pays,
                sole=only_rule(base, head, pays),
                confirmed=of_lines.confirmed,
            )
            left = len(lines) - len(kept.added) - len(kept.removed)
            notes = [*_notes(base, changed, left, len(of_lines.confirmed))]
            whole = finish_run(run, _finding(plan, run, records, lines, notes), measured, self.how)
        return Gate(
            base=self.both.names[0],
            head=self.both.names[1],
            how="measured",
            conditions=conditions(whole),
            growths=found,
            lines=tuple(lines.values()),
            notes=(
                *notes,
                *notes_of([one for one in records if one.role in {Base(), Whole()}]),
            ),
            runs=(run.name,),
        )

    def _plan_run(self) -> tuple[Profile, Profile, PlannedRun]:
        """Return both states as they are compared, and the plan of the whole profiles."""
        base, head = make_alike((self.both.base, self.both.head))
        if not changes(self.both.base, self.both.head).any:
            # The locations of the controls differ, and nothing else.
            head = dataclasses.replace(base, name=head.name)
        plan = whole_plan(
            base,
            head,
            self.how.workloads_of_profile,
            instrument=self.how.instrument or INSN.name,
            seeds=self.how.seeds,
            repetitions=self.how.repetitions,
        ).set_up(self.how.setup)
        return base, head, PlannedRun.of(plan, self.how, self.monitor)


def _first(changed: Changes, most: int) -> Changes:
    """Return as many lines of the change as are measured by themselves, added ones first."""
    added = changed.added[:most]
    return dataclasses.replace(
        changed, added=added, removed=changed.removed[: max(0, most - len(added))]
    )


def _notes(base: Profile, changed: Changes, left: int, verified: int) -> Sequence[str]:
    found = [f"each whole profile is compared with: {baseline_in_words(base)}"]
    if not changed.any:
        found.append("the two have the same controls")
    if changed.moved:
        found.append("rules that both have are in another order; its cost is in the whole alone")
    if changed.of_baseline:
        found.append("audit's own settings or the kernel changed; its cost is in the whole alone")
    if verified:
        were = "was" if verified == 1 else "were"
        found.append(
            f"{count(verified, 'line')} of the change {were} verified in groups: predicted, and"
            " confirmed by leaving out groups of lines; the others were left out by themselves"
        )
    if left > 0:
        found.append(f"{left} more lines changed and were not measured one by one")
    return found


def _finding(
    plan: Plan,
    run: Run,
    records: Sequence[Record],
    lines: Mapping[Without, ChangeLine],
    notes: Sequence[str],
) -> StudyFinding:
    """Return the finding that is kept of the gate: each state, and each without a line."""
    names: dict[Role, Role] = {Baseline(): Baseline(), Base(): Base(), Whole(): Named("head")}
    for role, line in lines.items():
        names[role] = Named(f"{names[role.of]} without {line.named}")
    known = {one.role for one in plan.configurations}
    extra = [one for one in plan.trials if one.configuration.role == Whole()]
    every = dataclasses.replace(
        plan,
        trials=(
            *plan.trials,
            *(
                dataclasses.replace(
                    extra[0], configuration=dataclasses.replace(extra[0].configuration, role=role)
                )
                for role in dict.fromkeys(one.role for one in records)
                if role not in known
            ),
        ),
    )
    return StudyFinding(
        run=run.name,
        study=plan.study,
        title=plan.title,
        instrument=plan.instrument,
        cells=tuple(
            dataclasses.replace(cell, configuration=names[cell.configuration])
            for cell in cells(every, records)
            if cell.configuration in names
        ),
        notes=(*plan.notes, *notes),
    )

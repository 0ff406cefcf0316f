"""A gate that measures: both states of a profile, and each without one line of the change."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from hardcost.analysis.estimates import cells
from hardcost.analysis.finding import Finding
from hardcost.analysis.growth import Gate
from hardcost.analysis.measuredgrowth import growths, lines_by_name, only_rule
from hardcost.cli import measuring, options
from hardcost.cli.present import Page, notes_of, write_report
from hardcost.design.changed import BASE, HEAD, changes, lines_plan, payer, whole_plan
from hardcost.design.compared import compared_with
from hardcost.design.leave_one_out import BASELINE
from hardcost.design.plan import Workload
from hardcost.design.several import alike
from hardcost.instruments.insn import INSN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.analysis.growth import Line
    from hardcost.cli.gatesides import Profiles
    from hardcost.controls.control import Profile
    from hardcost.design.changed import Changes
    from hardcost.design.plan import Plan
    from hardcost.run.session import Run
    from hardcost.store.record import Record

_HEAD = "head"


def gate_of(both: Profiles, words: dict[str, Any], most_lines: int) -> Gate | None:
    """Return what the change costs, as measured; None after --dry-run.

    A change that the kernel does not see is not measured line by line, and its two states, which
    are one, are measured once.

    Raises:
        HardcostError: Something is wrong with the input, the machine, a trial or the store.
    """
    chosen = options.choices(words, INSN.name)
    changed = changes(both.base, both.head)
    base, head = alike((both.base, both.head))
    if not changed.any:
        head = dataclasses.replace(base, name=head.name)  # places differ, and nothing else
    plan = whole_plan(
        base,
        head,
        chosen.workloads or (Workload("syscalls"),),
        instrument=chosen.instrument or INSN.name,
        seeds=chosen.seeds,
        repetitions=chosen.repetitions,
    ).set_up(chosen.setup)
    with measuring.run_of(plan, chosen) as run:
        if run is None:
            return None
        records = run.measure().records
        lines = lines_by_name(base, head, changed)
        kept = _first(changed, most_lines)
        if any(one.distinguishable for one in growths(records, {})):
            records = (*records, *_of_lines(plan, base, head, kept, run))
        pays = payer(base, head)
        found = growths(records, lines, payer=pays, sole=only_rule(base, head, pays))
        notes = [*_notes(base, changed, len(lines) - len(kept.added) - len(kept.removed))]
        finding = _finding(plan, run, records, lines, notes)
        whole = measuring.finished(run, finding)
    if chosen.report is not None:
        write_report(whole, Page(chosen.report, chosen.store))
    return Gate(
        base=both.names[0],
        head=both.names[1],
        how="measured",
        conditions=_conditions(whole),
        growths=found,
        lines=tuple(lines.values()),
        notes=(*notes, *notes_of([one for one in records if one.configuration in {BASE, HEAD}])),
        runs=(run.name,),
    )


def _first(changed: Changes, most: int) -> Changes:
    """Return as many lines of the change as are measured by themselves, added ones first."""
    added = changed.added[:most]
    return dataclasses.replace(
        changed, added=added, removed=changed.removed[: max(0, most - len(added))]
    )


def _of_lines(
    plan: Plan, base: Profile, head: Profile, kept: Changes, run: Run
) -> Sequence[Record]:
    if not (kept.added or kept.removed):
        return ()
    return run.measure_more(lines_plan(plan, base, head, kept.added, kept.removed))


def _notes(base: Profile, changed: Changes, left: int) -> Sequence[str]:
    found = [f"each whole profile is compared with: {compared_with(base)}"]
    if not changed.any:
        found.append("the two have the same controls")
    if changed.moved:
        found.append("rules that both have are in another order; its cost is in the whole alone")
    if changed.of_baseline:
        found.append("audit's own settings or the kernel changed; its cost is in the whole alone")
    if left > 0:
        found.append(f"{left} more lines changed and were not measured one by one")
    return found


def _finding(
    plan: Plan,
    run: Run,
    records: Sequence[Record],
    lines: Mapping[str, Line],
    notes: Sequence[str],
) -> Finding:
    """Return the finding that is kept of the gate: each state, and each without a line."""
    names = {BASELINE: BASELINE, BASE: BASE, HEAD: _HEAD}
    for name, line in lines.items():
        of = _HEAD if name.startswith("without") else BASE
        names[name] = f"{of} without {line.place or line.control}"
    known = {one.name for one in plan.configurations}
    extra = [one for one in plan.trials if one.configuration.name == HEAD]
    every = dataclasses.replace(
        plan,
        trials=(
            *plan.trials,
            *(
                dataclasses.replace(
                    extra[0], configuration=dataclasses.replace(extra[0].configuration, name=name)
                )
                for name in dict.fromkeys(one.configuration for one in records)
                if name not in known
            ),
        ),
    )
    return Finding(
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


def _conditions(whole: Finding) -> tuple[str, ...]:
    named = (("kernel", "kernel"), ("qemu", "QEMU"), ("cpu_model", "processor model"))
    known = [f"{name} {whole.environment[k]}" for k, name in named if k in whole.environment]
    return (f"instrument {whole.instrument}", f"machine {whole.machine}", *known)

"""What the 26 calls count under different versions of QEMU, each twice.

    python3 -m bench.accuracy.qemu_versions measure --hardcost .venv/bin/hardcost -o qemu-7.2.json
    python3 -m bench.accuracy.qemu_versions table qemu-7.2.json qemu-10.0.json qemu-11.1.json
    python3 -m bench.accuracy.qemu_versions hotspots --hardcost .venv/bin/hardcost
    python3 -m bench.accuracy.qemu_versions bill --hardcost .venv/bin/hardcost host debian:13

`measure` runs a study of the 26 calls, without rules and with 50 that name other calls, twice from
nothing with this host's QEMU, and exits with 1 if the two runs differ in a digit. It needs nothing
but Python and the command, so that it runs where a wheel is installed. `--kernel` is as hardcost
takes it: name the same on each host. `--qemu` names another QEMU than this host's. `table` prints
what was measured as Markdown: each call under each QEMU, and where two differ. `hotspots` counts
three calls under `audit-samples`, twice from nothing, and exits with 1 if functions do not add up
to a cost, or the two results differ. `bill` bills `audit-samples` on the 26 calls under each QEMU
that is named. It exits with 1 if, under another than the first, a number of a call that does not
move differs by more than some instructions, or if more than a twentieth of the intervals of costs
on calls that move have nothing in common with those under the first.
"""

from __future__ import annotations

import argparse
import json
import subprocess  # noqa: TID251  (it runs where a wheel is installed, and not this tree)
import sys
import tempfile
from pathlib import Path
from typing import Any

STUDY = """\
title = "One kernel under one QEMU"
workloads = ["syscalls"]
baseline = "no-rules"
[[configuration]]
name = "no-rules"
audit.enabled = true
[[configuration]]
name = "rules-50"
audit.rules = [{rules}]
"""
RULE = '"-a always,exit -F arch=b64 -S swapon -F uid={}"'
"""As in the study `kernels`: rules that name a call which no program makes."""

_LEAST = 8.0
"""Instructions by which a cost may differ: `rename` and `link` do by 6 and 7, here and there."""

_APART = 0.05  # share of 95 % intervals

Cells = dict[tuple[str, str], float]


def main() -> int:
    """Measure or print, and return the exit status."""
    parser = argparse.ArgumentParser(description="The 26 calls under versions of QEMU.")
    verbs = parser.add_subparsers(dest="verb", required=True)
    measured = verbs.add_parser("measure")
    counted = verbs.add_parser("hotspots")
    billed = verbs.add_parser("bill")
    for one in (measured, counted, billed):
        one.add_argument("--hardcost", default="hardcost", help="the command")
        one.add_argument("--kernel", default="debian:6.1")
    for one in (measured, counted):
        one.add_argument("--qemu", default="host")
    billed.add_argument("qemus", nargs="+", metavar="QEMU")
    billed.add_argument("--workload", default="syscalls")
    billed.add_argument("--cpu", default="max")
    measured.add_argument("-o", "--output", type=Path, required=True)
    shown = verbs.add_parser("table")
    shown.add_argument("files", nargs="+", type=Path)
    chosen = parser.parse_args()
    if chosen.verb == "table":
        print(table([json.loads(one.read_text(encoding="utf-8")) for one in chosen.files]))
        return 0
    if chosen.verb == "hotspots":
        return _hotspots(chosen.hardcost, chosen.kernel, chosen.qemu)
    if chosen.verb == "bill":
        words = ["--workload", chosen.workload, "--cpu", chosen.cpu]
        return _bills(chosen.hardcost, chosen.kernel, chosen.qemus, words)
    first, again = (_run(chosen.hardcost, chosen.kernel, chosen.qemu) for _ in range(2))
    chosen.output.write_text(json.dumps(first), encoding="utf-8")
    alike = first["cells"] == again["cells"]
    what = f"QEMU {first['environment']['qemu']}, kernel {first['environment']['kernel']}"
    print(f"{what}: {len(first['cells'])} numbers, twice {'the same' if alike else 'NOT the same'}")
    for one, other in zip(first["cells"], again["cells"], strict=True):
        if one != other:
            print(f"  {one['configuration']} {one['metric']}: {one['value']}, {other['value']}")
    return int(not alike)


def _run(command: str, kernel: str, qemu: str) -> Any:  # noqa: ANN401  (JSON)
    """Return what a run from nothing prints."""
    with tempfile.TemporaryDirectory() as name:
        study = Path(name) / "one.toml"
        rules = ", ".join(RULE.format(number) for number in range(50))
        study.write_text(STUDY.format(rules=rules), encoding="utf-8")
        return _said([command, "run", str(study)], kernel, qemu)


def _said(words: list[str], kernel: str, qemu: str) -> Any:  # noqa: ANN401  (JSON)
    words = [*words, "--kernel", kernel, "--qemu", qemu, "--fresh", "--format", "json"]
    words += ["--progress", "none", "--jobs", "1"]
    done = subprocess.run(words, check=True, stdout=subprocess.PIPE, text=True)  # noqa: S603
    return json.loads(done.stdout)


def _hotspots(command: str, kernel: str, qemu: str) -> int:
    """Print what three calls cost, and whether their functions add up to it; twice."""
    words = [command, "hotspots", "audit-samples", "--workload", "syscalls calls=null+open+chmod"]
    first, again = (_said(words, kernel, qemu) for _ in range(2))
    alike = first["hotspots"] == again["hotspots"]
    print(f"QEMU {first['environment']['qemu']}: twice {'the same' if alike else 'NOT the same'}")
    for one in first["hotspots"]:
        moved = sum(each["own_after"] - each["own_before"] for each in one["functions"])
        alike &= moved == one["cost"]
        print(f"  {one['metric']}: cost {one['cost']:,.0f}, its functions {moved:,.0f}")
    return int(not alike)


def _bills(command: str, kernel: str, qemus: list[str], words: list[str]) -> int:
    """Print where a bill under one QEMU is another than under the first."""
    words = [command, "bill", "audit-samples", "--method", "single", *words]
    first, *others = (_said(words, kernel, qemu) for qemu in qemus)
    wrong = 0
    for other in others:
        print(f"QEMU {other['environment']['qemu']} beside {first['environment']['qemu']}:")
        for title, found in pairs(first, other).items():
            differing = [one for one in found if one[1] != one[2]]
            print(f"  {title}: {len(found)}, of which {len(differing)} differ")
            for what, ours, theirs in differing:
                print(f"    {what}: {ours:,.1f}, {theirs:,.1f}")
                wrong += abs(ours - theirs) > _LEAST
        compared, apart = moved_apart(first, other)
        print(f"  intervals of costs on calls that move: {compared}, {len(apart)} lie apart")
        for name in apart:
            print(f"    {name}")
        wrong += len(apart) > _APART * compared
    return int(wrong > 0)


Pair = tuple[str, float, float]

SILENT, FIRES = "costs of controls that do not fire", "costs of controls that fire"
BASELINES = "calls without the profile"


def pairs(first: Any, other: Any) -> dict[str, list[Pair]]:  # noqa: ANN401  (JSON)
    """Return what two bills say of the same, by what it is, of calls that do not move."""
    moving = moving_calls(first, other)
    found: dict[str, list[Pair]] = {SILENT: [], FIRES: [], BASELINES: []}
    theirs = {(one["control"], one["metric"]): one for one in other["items"]}
    for ours in first["items"]:
        it = theirs.get((ours["control"], ours["metric"]))
        if it is None or ours["metric"] in moving:
            continue
        of = found[FIRES if ours["fired"] or it["fired"] else SILENT]
        name = f"{ours['metric']}, {ours['control']}"
        of += [(f"{name} ({key})", ours[key], it[key]) for key in ("cost", "alone")]
    their_totals = {one["metric"]: one["baseline"] for one in other["totals"]}
    for total in first["totals"]:
        if (metric := total["metric"]) not in moving:
            found[BASELINES].append((metric, total["baseline"], their_totals[metric]))
    return found


def moving_calls(*bills: Any) -> set[str]:  # noqa: ANN401  (JSON)
    """Return the calls that one of the bills measures under perturbations."""
    return {one["metric"] for bill in bills for one in bill["cells"] if one["trials"] > 1}


def moved_apart(first: Any, other: Any) -> tuple[int, list[str]]:  # noqa: ANN401  (JSON)
    """Return how many costs on calls that move two bills have, and those whose intervals differ."""
    moving = moving_calls(first, other)
    theirs = {(one["control"], one["metric"]): one for one in other["items"]}
    compared, apart = 0, []
    for ours in first["items"]:
        it = theirs.get((ours["control"], ours["metric"]))
        if it is None or ours["metric"] not in moving:
            continue
        compared += 1
        if ours["high"] < it["low"] or it["high"] < ours["low"]:
            spans = " and ".join(f"{one['low']:,.0f} to {one['high']:,.0f}" for one in (ours, it))
            apart.append(f"{ours['metric']}, {ours['control']}: {spans}")
    return compared, apart


def table(runs: list[Any]) -> str:
    """Return the calls under each QEMU, and the largest difference from the first in percent."""
    versions = [run["environment"]["qemu"].split(" ")[0] for run in runs]
    all_cells = [cells(run) for run in runs]
    kernels = {run["environment"]["kernel"] for run in runs}
    lines = [f"Kernel: {', '.join(sorted(kernels))}.", ""]
    for configuration in dict.fromkeys(name for name, _ in all_cells[0]):
        lines.append(f"| {configuration} | {' | '.join(versions)} | differs by |")
        lines.append(f"| --- |{' ---: |' * (len(versions) + 1)}")
        for (name, metric), value in all_cells[0].items():
            if name == configuration:
                values = [one[name, metric] for one in all_cells]
                most = max((abs(one - value) for one in values), default=0.0)
                share = f"{100 * most / value:.2f} %" if most else ""
                numbers = " | ".join(f"{one:,.0f}" for one in values)
                lines.append(f"| `{metric}` | {numbers} | {share} |")
        lines.append("")
    return "\n".join(lines)


def cells(run: Any) -> Cells:  # noqa: ANN401  (JSON)
    """Return a run's values by configuration and metric."""
    return {(one["configuration"], one["metric"]): one["value"] for one in run["cells"]}


if __name__ == "__main__":
    sys.exit(main())

"""Findings as real runs yield them, made by the kernel's own arithmetic instead of a guest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from hardcost.analysis.finding import Bill, Cell, Finding, Item, Sum, Total

PLAIN = {
    "null": 209,
    "read": 408,
    "write": 377,
    "stat": 1978,
    "fstat": 502,
    "open": 3353,
    "access": 1650,
    "lseek": 231,
    "mmap": 1904,
    "page-fault": 1212,
    "pipe": 1522,
    "unix": 3015,
    "select": 1380,
    "signal": 480,
    "context-switch": 2930,
    "fork": 110_231,
    "exec": 273_604,
    "creat": 6021,
    "rename": 7980,
    "link": 6410,
    "mkdir": 7702,
    "chmod": 2210,
    "chown": 2244,
    "utimensat": 2361,
    "setxattr": 4103,
    "connect": 8210,
    "unlink": 6230,
    "socket": 4120,
}
METRICS = tuple(PLAIN)
RULES = (0, 1, 10, 20, 30, 40, 50, 100, 160)
PATHS = {"stat", "open", "access", "exec", "creat", "rename", "link", "mkdir", "chmod", "unlink"}
ENVIRONMENT = {
    "qemu": "7.2.22",
    "kernel": "6.1.192",
    "cpu_model": "Skylake-Server-v4",
    "host": "x86_64",
}

if TYPE_CHECKING:
    from collections.abc import Callable


def cost_of_audit(metric: str, rules: int, *, catch_all: bool) -> int:
    cost = 153 + (224 + 19 * rules + (630 if metric in PATHS else 0) if rules else 0)
    return cost + (87 if catch_all else 0)


def cell(configuration: str, metric: str, value: float, baseline: str, to: float) -> Cell:
    ratio = value / to if to else float("nan")
    return Cell(
        configuration=configuration,
        workload="syscalls",
        metric=metric,
        unit="insn/op",
        value=value,
        low=value,
        high=value,
        minimum=value,
        trials=3,
        baseline=baseline,
        difference=value - to,
        ratio=ratio,
        ratio_low=ratio,
        ratio_high=ratio,
    )


def make_run(metrics: tuple[str, ...] = METRICS) -> Finding:
    cells = []
    levels: dict[str, tuple[tuple[str, str], ...]] = {"audit-off": (("audit", "off"),)}
    for metric in metrics:
        base = float(PLAIN[metric] + 153)
        cells.append(cell("audit-off", metric, float(PLAIN[metric]), "rules=0", base))
        for kernel, slope in (("stock", 1), ("flat", 0)):
            for catch_all in (False, True):
                for rules in RULES:
                    words = [f"rules={rules}", *(["catch-all"] if catch_all else [])]
                    words[:0] = ["kernel=flat"] if kernel == "flat" else []
                    name = " ".join(words)
                    value = PLAIN[metric] + cost_of_audit(
                        metric, rules if slope else min(rules, 1), catch_all=catch_all
                    )
                    cells.append(cell(name, metric, float(value), "rules=0", base))
                    levels[name] = (
                        ("kernel", kernel),
                        ("rules", str(rules)),
                        ("catch-all", "on" if catch_all else "off"),
                    )
    order = {name: nth for nth, name in enumerate(levels)}
    cells.sort(key=lambda it: order[it.configuration])
    return Finding(
        run="audit-rules-1",
        study="audit-rules",
        title="Audit rules that match nothing",
        machine="vm",
        instrument="insn",
        environment=ENVIRONMENT,
        cells=tuple(cells),
        notes=("page-table isolation costs more on hardware than it counts",),
        levels=levels,
        published="audit-rule-scaling-2021",
    )


def sample_rules(pairs: int = 16) -> list[tuple[str, str]]:
    """Return rules and the call that each names."""
    named = [m for m in METRICS if m in {"chmod", "chown", "setxattr", "mkdir", "rename", "creat"}]
    rules = []
    for nth in range(pairs):
        call = named[nth % len(named)]
        rules += [
            (
                (
                    f"-a always,exit -F arch={arch} -S {call},f{call},f{call}at,l{call} "
                    f"-F auid>=1000 -F auid!=unset -F a0={nth} -F key=change-of-{call}"
                ),
                call,
            )
            for arch in ("b32", "b64")
        ]
    return rules


def make_bill(
    rules: list[tuple[str, str]] | None = None, metrics: tuple[str, ...] = METRICS
) -> Finding:
    items, totals, rest, interaction = [], [], [], []
    rules = sample_rules() if rules is None else rules
    for metric in metrics:
        costs = []
        for nth, (_, call) in enumerate(rules):
            cost, fired = 19.0, 0
            if call == metric:
                b64 = "b64" in rules[nth][0]
                cost, fired = (21_304.0, 1000) if b64 and nth < 30 else (88.0, 0)
            costs.append((cost, fired))
        shared = 377.0 + (630 if metric in PATHS else 0)
        cost = sum(it for it, _ in costs) + shared
        baseline = float(PLAIN[metric])
        totals.append(Total(metric, "insn/op", baseline, baseline + cost, cost))
        interaction.append(Sum(metric, shared))
        rest.append(Sum(metric, 0.0))
        for nth, ((own, fired), (rule, _)) in enumerate(zip(costs, rules, strict=True)):
            place = f"30-sample.rules:{14 + 3 * nth}"
            items.append(
                Item(rule, metric, "insn/op", own, own, own, own / cost, own + shared, fired, place)
            )
    bill = Bill(
        "sample-stig",
        "A sample of a STIG's audit rules",
        tuple(totals),
        tuple(items),
        tuple(rest),
        tuple(interaction),
    )
    run = replace(make_run(metrics), run="bill-1", study="bill", title=bill.title)
    return replace(run, bill=bill, published=None, cells=(), levels={}, notes=())


HOSTILE = "<script>alert(1)</script>\x1b[31m[bold]&amp;\u202e"


def make_hostile() -> Finding:
    """Return a finding in which every name wants to act on the page or terminal that shows it."""

    def bad(text: str) -> str:
        return f"{text}{HOSTILE}"

    run = make_run(("null", "open"))
    names = {name: bad(name) for name in run.levels}
    cells = tuple(
        replace(
            it,
            configuration=names[it.configuration],
            workload=bad(it.workload),
            metric=bad(it.metric),
            unit=bad(it.unit),
            baseline=names[it.baseline],
        )
        for it in run.cells
    )
    levels = {
        names[name]: tuple((bad(key), value) for key, value in own)
        for name, own in run.levels.items()
    }
    bill = make_bill(metrics=("null", "open")).bill
    assert bill is not None
    hostile = Bill(
        bad(bill.profile),
        bad("title"),
        tuple(replace(it, metric=bad(it.metric), unit=bad(it.unit)) for it in bill.totals),
        tuple(
            replace(it, metric=bad(it.metric), control=bad(it.control), place=bad(it.place))
            for it in bill.items[:8]
        ),
        (),
        (),
    )
    return Finding(
        run=bad("run"),
        study=bad("study"),
        title=bad("title"),
        machine=bad("vm"),
        instrument=bad("insn"),
        environment={bad("qemu"): bad("7")},
        cells=cells,
        notes=(bad("note"),),
        levels=levels,
        bill=hostile,
    )


@pytest.fixture(scope="session")
def run() -> Finding:
    """All configurations of the study `audit-rules` on 28 metrics."""
    return make_run()


@pytest.fixture(scope="session")
def bill() -> Finding:
    """A bill of 32 rules on 28 metrics; some fire on one call each."""
    return make_bill()


@pytest.fixture(scope="session")
def hostile() -> Finding:
    return make_hostile()


@pytest.fixture(scope="session")
def run_of() -> Callable[[tuple[str, ...]], Finding]:
    return make_run


@pytest.fixture(scope="session")
def bill_of() -> Callable[[tuple[str, ...]], Finding]:
    return lambda metrics: make_bill(metrics=metrics)

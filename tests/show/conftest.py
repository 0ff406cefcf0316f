"""Findings as real runs yield them, made by the kernel's own arithmetic instead of a guest."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest
from playwright.sync_api import Browser, sync_playwright

from auditrules.model.location import Location
from hardcost.model.finding.bill import Bill, Item, Sum, Total
from hardcost.model.finding.cell import Cell
from hardcost.model.finding.study import StudyFinding
from hardcost.model.role import AxisLevel, Role, role_of
from hardcost.model.workload import Workload, metric_of, workload_of

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


def cost_of_audit(metric: str, rules: int, *, catch_all: bool) -> int:
    cost = 153 + (224 + 19 * rules + (630 if metric in PATHS else 0) if rules else 0)
    return cost + (87 if catch_all else 0)


def cell(configuration: str, metric: str, value: float, baseline: str, to: float) -> Cell:
    ratio = value / to if to else float("nan")
    return Cell(
        configuration=role_of(configuration),
        workload=Workload("syscalls"),
        metric=metric,
        unit="insn/op",
        value=value,
        low=value,
        high=value,
        minimum=value,
        trials=3,
        baseline=role_of(baseline),
        difference=value - to,
        ratio=ratio,
        ratio_low=ratio,
        ratio_high=ratio,
    )


def make_run(metrics: tuple[str, ...] = METRICS) -> StudyFinding:
    cells = []
    levels: dict[Role, tuple[AxisLevel, ...]] = {role_of("audit-off"): (AxisLevel("audit", "off"),)}
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
                    levels[role_of(name)] = (
                        AxisLevel(
                            "kernel", kernel, "" if kernel == "stock" else f"kernel={kernel}"
                        ),
                        AxisLevel("rules", str(rules), f"rules={rules}"),
                        AxisLevel(
                            "catch-all", *(("on", "catch-all") if catch_all else ("off", ""))
                        ),
                    )
    order = {name: nth for nth, name in enumerate(levels)}
    cells.sort(key=lambda it: order[it.configuration])
    return StudyFinding(
        run="audit-rules-1",
        study="audit-rules",
        title="Audit rules that match nothing",
        machine="vm",
        instrument="insn",
        environment=ENVIRONMENT,
        cells=tuple(cells),
        notes=("page-table isolation costs more on hardware than it counts",),
        levels=levels,
        source="audit-rule-scaling-2021",
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
) -> Bill:
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
        totals.append(Total(metric_of(metric), "insn/op", baseline, baseline + cost, cost))
        interaction.append(Sum(metric_of(metric), shared))
        rest.append(Sum(metric_of(metric), 0.0))
        for nth, ((own, fired), (rule, _)) in enumerate(zip(costs, rules, strict=True)):
            place = f"30-sample.rules:{14 + 3 * nth}"
            items.append(
                Item(
                    rule,
                    metric_of(metric),
                    "insn/op",
                    own,
                    own,
                    own,
                    own / cost,
                    own + shared,
                    fired,
                    Location.of(place),
                )
            )
    return Bill(
        run="bill-1",
        study="bill",
        title="A sample of a STIG's audit rules",
        machine="vm",
        instrument="insn",
        environment=ENVIRONMENT,
        cells=(),
        profile="sample-stig",
        profile_title="A sample of a STIG's audit rules",
        totals=tuple(totals),
        items=tuple(items),
        rest=tuple(rest),
        interaction=tuple(interaction),
    )


HOSTILE = "<script>alert(1)</script>\x1b[31m[bold]&amp;\u202e"


def make_hostile() -> StudyFinding:
    """Return a finding in which every name wants to act on the page or terminal that shows it."""

    def bad(text: object) -> str:
        return f"{text}{HOSTILE}"

    run = make_run(("null", "open"))
    names = {name: role_of(bad(name)) for name in run.levels}
    cells = tuple(
        replace(
            it,
            configuration=names[it.configuration],
            workload=workload_of(bad(it.workload)),
            metric=bad(it.metric),
            unit=bad(it.unit),
            baseline=names[it.baseline],
        )
        for it in run.cells
    )
    levels = {
        names[name]: tuple(one._replace(axis=bad(one.axis)) for one in own)
        for name, own in run.levels.items()
    }
    return StudyFinding(
        run=bad("run"),
        study=bad("study"),
        title=bad("title"),
        machine=bad("vm"),
        instrument=bad("insn"),
        environment={bad("qemu"): bad("7")},
        cells=cells,
        notes=(bad("note"),),
        levels=levels,
    )


def make_hostile_bill() -> Bill:
    """Return a bill in which every name wants to act on what shows it."""

    def bad(text: object) -> str:
        return f"{text}{HOSTILE}"

    run, bill = make_hostile(), make_bill(metrics=("null", "open"))
    return Bill(
        run=run.run,
        study=run.study,
        title=run.title,
        machine=run.machine,
        instrument=run.instrument,
        environment=run.environment,
        cells=run.cells,
        notes=run.notes,
        profile=bad(bill.profile),
        profile_title=bad("title"),
        totals=tuple(
            replace(it, metric=metric_of(bad(it.metric)), unit=bad(it.unit)) for it in bill.totals
        ),
        items=tuple(
            replace(
                it,
                metric=metric_of(bad(it.metric)),
                control=bad(it.control),
                place=Location.of(bad(it.place)),
            )
            for it in bill.items[:8]
        ),
    )


@pytest.fixture(scope="session")
def run() -> StudyFinding:
    """All configurations of the study `audit-rules` on 28 metrics."""
    return make_run()


@pytest.fixture(scope="session")
def bill() -> Bill:
    """A bill of 32 rules on 28 metrics; some fire on one call each."""
    return make_bill()


@pytest.fixture(scope="session")
def hostile() -> StudyFinding:
    return make_hostile()


@pytest.fixture(scope="session")
def hostile_bill() -> Bill:
    return make_hostile_bill()


@pytest.fixture(scope="session")
def run_of() -> Callable[[tuple[str, ...]], StudyFinding]:
    return make_run


@pytest.fixture(scope="session")
def bill_of() -> Callable[[tuple[str, ...]], Bill]:
    return lambda metrics: make_bill(metrics=metrics)


_BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser of its own for each file of tests: beside it no other event loop can run."""
    program = next(filter(None, map(shutil.which, _BROWSERS)), None)
    assert program is not None, "no Chromium: `scripts/packages --test` installs it"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()

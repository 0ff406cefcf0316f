"""Findings as the studies of a Debian guest yield them, put together by hand."""

from __future__ import annotations

from dataclasses import replace

from hardcost.model.finding.cell import Cell
from hardcost.model.finding.failure import Failure
from hardcost.model.finding.observation import seen_in
from hardcost.model.finding.study import StudyFinding
from hardcost.model.observation import Observed, WatchStep
from hardcost.model.role import role_of
from hardcost.model.workload import workload_of

COPY = {"none": 1.0, "reduced": 1.2, "audit": 5.5, "audit-syslog": 13.0, "stig-full": 30.0}
COPIES = (1, 2, 4, 8)
PROCESSES = {
    "none": {"cp": 90.0, "rm": 10.0},
    "reduced": {"cp": 92.0, "rm": 10.0, "auditd": 3.0},
    "audit": {"cp": 150.0, "rm": 60.0, "auditd": 200.0, "kauditd": 80.0},
    "audit-syslog": {"cp": 150.0, "rm": 60.0, "auditd": 200.0, "kauditd": 80.0, "rsyslogd": 500.0},
    "stig-full": {
        "cp": 170.0,
        "rm": 60.0,
        "auditd": 200.0,
        "kauditd": 80.0,
        "rsyslogd": 500.0,
        "clamd": 1500.0,
        "fapolicyd": 900.0,
        **{f"kworker/0:{nth}": 1.0 for nth in range(12)},
    },
}
TESTS = {
    "dhrystone": (410.0, 1.0),
    "whetstone": (9120.0, 1.0),
    "execl": (301_400.0, 1.09),
    "copy-1024": (2210.0, 1.31),
    "copy-256": (1490.0, 1.48),
    "copy-4096": (4020.0, 1.2),
    "pipe": (1210.0, 1.7),
    "context-switch": (4090.0, 1.3),
    "process": (98_800.0, 1.02),
    "shell-1": (4_301_222.0, 1.08),
    "shell-8": (34_090_011.0, 1.08),
    "system-call": (1380.0, 2.9),
}


def cell(
    what: tuple[str, str, str], value: float, base: tuple[str, float], unit: str = "insn"
) -> Cell:
    """Return an exact cell of `what`: configuration, workload, metric; `base` is as named there."""
    (configuration, workload, metric), (name, to) = what, base
    ratio = value / to
    return Cell(
        configuration=role_of(configuration),
        workload=workload_of(workload),
        metric=metric,
        unit=unit,
        value=value,
        low=value,
        high=value,
        minimum=value,
        trials=1,
        baseline=role_of(name),
        difference=value - to,
        ratio=ratio,
        ratio_low=ratio,
        ratio_high=ratio,
    )


def copied(copies: int) -> str:
    return "filecopy" if copies == 1 else f"filecopy concurrency={copies}"


def filecopy() -> StudyFinding:
    """Return a run of `stig-filecopy` with processor shares and what audit saw."""
    cells, observed = [], []
    for configuration, factor in COPY.items():
        for copies in COPIES:
            work = copied(copies)
            one = {"copy": 139e6 * copies, "remove": 33e6 * copies, "user": 12e6 * copies}
            one["wall"] = one["copy"] + one["remove"]
            one["system"] = one["wall"] - one["user"]
            for metric, base in one.items():
                more = factor + (copies / 100 if factor > 1 else 0)
                cells.append(cell((configuration, work, metric), base * more, ("none", base)))
            observed += [
                seen_in(role_of(configuration), workload_of(work), 0, 0, processor(configuration)),
                seen_in(role_of(configuration), workload_of(work), 0, 0, audit(configuration)),
            ]
    return StudyFinding(
        run="stig-filecopy-1",
        study="stig-filecopy",
        title="What the RHEL 9 STIG costs where many small files are copied",
        machine="vm",
        instrument="insn",
        cells=tuple(cells),
        levels={role_of(one): () for one in COPY},
        source="stig-rhel9-2024",
        observed=tuple(observed),
    )


def processor(configuration: str) -> Observed:
    totals = PROCESSES[configuration]
    busy = sum(totals.values())
    times = tuple(busy * (nth + 1) / 20 for nth in range(20))
    return Observed(
        instrument="cpu",
        unit_of_totals="ticks",
        totals={**totals, "idle": busy / 9},
        times=times,
        series={
            **{name: (amount / 20,) * 20 for name, amount in totals.items()},
            "idle": (busy / 180,) * 20,
            "user": tuple(10e3 * (nth % 2) for nth in range(20)),
            "system": tuple(30e3 - 10e3 * (nth % 2) for nth in range(20)),
        },
        steps=(
            WatchStep(name="set up", begin=0, end=busy * 0.1),
            WatchStep(name="copy", begin=busy * 0.1, end=busy * 0.7, is_measured=True),
            WatchStep(name="remove", begin=busy * 0.7, end=busy * 0.9, is_measured=True),
        ),
        own_ticks=busy / 5000,
    )


def audit(configuration: str) -> Observed:
    if configuration == "none":
        return Observed(instrument="audit", unit_of_totals="events")
    totals = {"records": 12_041.0, "lost": 0.0, "backlog_peak": 64.0, "bytes_logged": 4_102_233.0}
    totals["key:perm_mod"] = 900.0
    totals["key:delete"] = 450.0
    if "syslog" in configuration or configuration == "stig-full":
        totals |= {"syslog_records": 11_000.0, "syslog_dropped": 1041.0}
    if configuration == "stig-full":
        totals |= {"forward_records": 10_990.0, "forward_dropped": 10.0, "syslog_limited": 7.0}
    return Observed(
        instrument="audit",
        unit_of_totals="events",
        totals=totals,
        times=(100.0, 200.0, 300.0),
        series={"backlog": (0.0, 64.0, 3.0)},
        own_ticks=1,
    )


def selinux() -> StudyFinding:
    """Return a run of `selinux-services` with lookups in the access vector cache."""
    factor = {"none": 1.0, "apparmor": 1.02, "permissive": 1.08, "enforcing": 1.0816}
    bases = {
        "apache-prefork": {"ab-1": 240_350.0, "ab-16": 251_001.0},
        "postfix": {"sent-1": 4_324_000.0},
        "mariadb": {"sysbench-1": 1_203_400.0},
    }
    cells, observed = [], []
    for configuration, more in factor.items():
        for workload, metrics in bases.items():
            for metric, base in metrics.items():
                value = base * more
                cells.append(
                    cell((configuration, workload, metric), value, ("none", base), "insn/op")
                )
            lookups = 41_000.0 if more > 1.05 else 0.0
            totals = {"lookups": lookups, "hits": lookups * 0.99, "misses": lookups * 0.01}
            totals |= {"reclaims": 0.0}
            seen = Observed(
                instrument="avc",
                unit_of_totals="count",
                totals=totals,
                times=(10.0, 20.0, 30.0),
                series={"lookups": (lookups * 0.2, lookups * 0.5, lookups * 0.3)},
                steps=(
                    WatchStep(name="set up", begin=0, end=8),
                    WatchStep(name="load", begin=10, end=20, operations=100),
                ),
            )
            observed.append(seen_in(role_of(configuration), workload_of(workload), 0, 0, seen))
    return StudyFinding(
        run="selinux-services-1",
        study="selinux-services",
        title="What SELinux and AppArmor cost services",
        machine="vm",
        instrument="insn",
        cells=tuple(cells),
        levels={role_of(one): () for one in factor},
        source="selinux-rhel5-2007",
        observed=tuple(observed),
    )


def cis() -> StudyFinding:
    """Return a run of `cis-audit` on UnixBench alone."""
    cells = [
        cell((name, "unixbench", test), base * (factor**part), ("audit-off", base), "insn/op")
        for name, part in (("audit-off", 0.0), ("auditd-no-rules", 0.3), ("cis-rules", 1.0))
        for test, (base, factor) in TESTS.items()
    ]
    return StudyFinding(
        run="cis-audit-1",
        study="cis-audit",
        title="What CIS audit rules cost",
        machine="vm",
        instrument="insn",
        cells=tuple(cells),
        levels={role_of("audit-off"): (), role_of("auditd-no-rules"): (), role_of("cis-rules"): ()},
        source="cis-audit-2019",
    )


def failed(
    finding: StudyFinding, configuration: str, reason: str = "the service died"
) -> StudyFinding:
    """Return `finding` without what was measured under `configuration`, whose trials failed."""
    lost = [c for c in finding.cells if c.configuration == role_of(configuration)]
    kept = [c for c in finding.cells if c.configuration != role_of(configuration)]
    unknown = float("nan")
    kept = [
        c
        if c.baseline != role_of(configuration)
        else replace(c, difference=unknown, ratio=unknown, ratio_low=unknown, ratio_high=unknown)
        for c in kept
    ]
    failures = [
        Failure(
            role_of(configuration), workload, 0, 0, reason, "start it by hand", "first\nlast words"
        )
        for workload in dict.fromkeys(c.workload for c in lost)
    ]
    return replace(finding, cells=tuple(kept), failures=(*finding.failures, *failures))

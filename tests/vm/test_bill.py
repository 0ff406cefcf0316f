"""A bill of real guests: it adds up, says what fired, and shows rules as text."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from hardcost.supply.packages.host_release import release
from tests.vm.conftest import Command

pytestmark = pytest.mark.vm

HOSTILE = "<script>alert(1)</script>"
CHMOD = f"-a always,exit -F arch=b64 -S chmod,fchmodat -F auid>=1000 -k {HOSTILE}"
RULES = f"""\
{CHMOD}
-a always,exit -F dir=/etc/hardcost.d -F perm=wa -k folder
-w /etc/passwd -p wa -k watched
-a always,exit -F arch=b64 -S openat -F exit=-EACCES -k refused
-a always,exit -F arch=b64 -S swapon -F uid=70001
"""
WORKLOAD = "syscalls calls=null+open+chmod"


def per_metric(rows: list[dict[str, Any]], key: str = "cost") -> dict[str, float]:
    """Return the exact sum of `key` for each metric."""
    metrics = {row["metric"] for row in rows}
    return {
        metric: math.fsum(row[key] for row in rows if row["metric"] == metric) for metric in metrics
    }


def test_a_bill_adds_up_says_what_fired_and_shows_rules_as_text(hardcost: Command) -> None:
    rules = hardcost.write("my.rules", RULES)
    outcome = hardcost("bill", rules, "--workload", WORKLOAD, "--format", "json")
    bill = outcome.data()
    totals, items = per_metric(bill["totals"]), per_metric(bill["items"])
    fixed, rest = per_metric(bill["fixed"]), per_metric(bill["rest"])
    interaction = per_metric(bill["interaction"])
    assert set(totals) == {"null", "open", "chmod"}
    for metric, total in totals.items():
        assert items[metric] + fixed[metric] + rest[metric] + interaction[metric] == total
    assert (fixed["null"], fixed["open"]) == (354, 1580)  # of the kernel that comes with the model
    for row in bill["totals"]:
        assert row["with_profile"] - row["baseline"] == row["cost"] > 0
    assert [item["cost"] for item in bill["items"]] == sorted(
        (item["cost"] for item in bill["items"]), reverse=True
    )
    assert {item["control"] for item in bill["items"]} == set(RULES.splitlines())

    chmod = {item["control"]: item for item in bill["items"] if item["metric"] == "chmod"}
    assert chmod[CHMOD]["fired"] == 45  # once for each sample
    others = {item["fired"] for item in bill["items"] if item["control"] != CHMOD}
    assert others == {0}
    assert all(item["fired"] == 0 for item in bill["items"] if item["metric"] != "chmod")
    assert chmod[CHMOD]["share"] > 0.9

    shown = outcome.values("null")
    assert set(shown) == {"audit-off", "baseline", "profile"}
    assert shown["audit-off"] < shown["baseline"] < shown["profile"]

    (page,) = (hardcost.store.parent / "reports").glob("*.html")
    html = page.read_text()
    assert "<script>alert" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "http://" not in html.replace("http://www.w3.org/", "")  # self-contained
    assert "https://" not in html.replace("https://www.w3.org/", "")
    text = hardcost("report", "last", "--all").out
    for rule in RULES.splitlines():
        assert rule in text


OF_STREAM = "only the audit rules of the SCAP profile"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("profile", "fewest", "said"),
    [
        ("stig-reduced", (48, 48), "arch=b33, which auditctl refuses; corrected to arch=b32"),
        ("audit-samples", (30, 30), "31-privileged.rules"),
        pytest.param("rhel9-stig-audit", (74, 64), OF_STREAM, marks=pytest.mark.lengthy),
        ("rhel9-cis", (44, 53), OF_STREAM),
        pytest.param("rhel9-ospp", (96, 90), OF_STREAM, marks=pytest.mark.lengthy),
    ],
)
def test_every_rule_of_the_profile_loads(
    hardcost: Command, profile: str, fewest: tuple[int, int], said: str
) -> None:
    """`fewest` are the rules that the packages of Debian 12 have, and those of Debian 13."""
    least = dict(zip(("bookworm", "trixie"), fewest, strict=True))[release().codename]
    study = hardcost.write(
        "loads.toml",
        f"""
title = "does it load?"
workloads = ["syscalls calls=null"]
baseline = "without"
[[configuration]]
name = "without"
audit.enabled = true
[[configuration]]
name = "with"
profile = "{profile}"
""",
    )
    outcome = hardcost("run", study, "--format", "json")
    assert outcome.values("null")["with"] > outcome.values("null")["without"]
    assert any(said in note for note in outcome.data()["notes"])
    controls = hardcost("list", "controls", "--format", "json").data()
    assert len([row for row in controls if row["profile"] == profile]) >= least
    plan = hardcost("bill", profile, "--method", "single", "--dry-run", "--format", "json").data()
    without = [trial for trial in plan["trials"] if trial["configuration"].startswith("without:")]
    assert len(without) >= least


@pytest.mark.slow
def test_two_profiles_share_a_run_and_a_baseline(hardcost: Command) -> None:
    old = hardcost.write("old.rules", RULES)
    new = hardcost.write("new.rules", "".join(RULES.splitlines(keepends=True)[:2]))
    outcome = hardcost("bill", old, new, "--workload", WORKLOAD, "--format", "json")
    data = outcome.data()
    assert data["shared_baseline"]
    assert data["common"] == RULES.splitlines()[:2]
    first, second = data["bills"]
    assert [first["profile"], second["profile"]] == [old, new]
    for one in (first, second):
        assert {row["baseline"] for row in one["totals"] if row["metric"] == "null"} == {
            outcome.values("null")["baseline"]
        }
        items, total = per_metric(one["items"]), per_metric(one["totals"])
        fixed, rest = per_metric(one["fixed"]), per_metric(one["rest"])
        interaction = per_metric(one["interaction"])
        for metric, cost in total.items():
            assert items[metric] + fixed[metric] + rest[metric] + interaction[metric] == cost
    assert set(outcome.values("null")) == {"audit-off", "baseline", old, new}
    shown = hardcost("report", "last", "--all").out
    assert "One baseline for all: audit on, no rules." in shown
    (page,) = (hardcost.store.parent / "reports").glob("*.html")
    assert f"hardcost bill {old} {new} --workload &#39;{WORKLOAD}&#39;" in page.read_text()


@pytest.mark.slow
def test_the_only_rule_costs_little_and_having_it_much(hardcost: Command) -> None:
    rules = hardcost.write("one.rules", RULES.splitlines()[4])
    words = ("--workload", "syscalls calls=null+open", "--format", "json")
    bill = hardcost("bill", rules, *words).data()
    fixed, total = per_metric(bill["fixed"]), per_metric(bill["totals"])
    assert fixed["null"] == 354
    assert {item["cost"] for item in bill["items"] if item["metric"] == "null"} == {19}
    for metric, cost in per_metric(bill["items"]).items():
        assert cost + fixed[metric] == total[metric]


@pytest.mark.slow
def test_what_is_the_default_anyway_is_marked(hardcost: Command) -> None:
    words = ("--workload", "syscalls calls=null+exec", "--format", "json")
    bill = hardcost("bill", "kernel.randomize_va_space=2", *words).data()
    assert {item["default"] for item in bill["items"]} == {"kernel"}
    assert "Without what is the default anyway" in " ".join(
        hardcost("report", "last", "--all").out.split()
    )


@pytest.mark.slow
@pytest.mark.lengthy
def test_settings_without_a_file_are_billed(hardcost: Command) -> None:
    folder = hardcost.folder / "sysctl.d"
    folder.mkdir()
    (folder / "1.conf").write_text("# one\nfs.protected_symlinks = 0\n")
    words = ("--boot", "init_on_alloc=0", "--workload", "syscalls calls=null+stat")
    outcome = hardcost("bill", "sysctl.d", *words, "--format", "json")
    items = {item["control"]: item for item in outcome.data()["items"] if item["metric"] == "stat"}
    assert "fs.protected_symlinks=0" in hardcost("report", "last", "--all").out
    assert items["init_on_alloc=0"]["cost"] < 0
    alone = hardcost("bill", "--sysctl", "fs.protected_symlinks=0", *words, "--format", "json")
    assert alone.data()["totals"] == outcome.data()["totals"]


@pytest.mark.slow
def test_what_fits_no_metric_s_budget_is_reported_with_its_cost(hardcost: Command) -> None:
    rules = hardcost.write("my.rules", CHMOD)
    words = ("bill", rules, "--workload", WORKLOAD, "--budget", "chmod<=50%,open=900%")
    outcome = hardcost(*words, status=1)
    said = " ".join(outcome.out.split())
    assert said.startswith("No control can be kept within 50.0% on chmod and 900.0% on open")
    assert re.search(r"the least budget that keeps one is [\d,.]+% on chmod", said)


@pytest.mark.slow
def test_a_search_goes_on_without_the_settings_that_a_kernel_refuses(hardcost: Command) -> None:
    settings = ("kernel.kptr_restrict=1", "kernel.nothing_such=1", "net.ipv4.conf.eth0.rp_filter=1")
    file = hardcost.write("saved.conf", "\n".join(settings))
    words = ("--method", "search", "--workload", "syscalls calls=null", "--format", "json")
    found = hardcost("bill", file, *words, status=3)
    (lost,) = found.data()["unmeasured"]
    assert lost["control"] == "kernel.nothing_such=1"
    assert lost["place"].endswith("saved.conf:2")
    assert "the kernel has no setting" in lost["reason"]
    assert "devices that no guest has are left out: eth0" in " ".join(found.data()["notes"])


@pytest.mark.slow
@pytest.mark.lengthy
def test_a_control_that_kills_its_guest_is_named_and_the_other_measured(hardcost: Command) -> None:
    words = ("--boot", "init_on_free=1", "--boot", "rdinit=/none")
    found = hardcost(
        "bill", *words, "--workload", "syscalls calls=open", "--format", "json", status=3
    )
    (lost,) = found.data()["unmeasured"]
    assert lost["control"] == "rdinit=/none"
    assert "the guest died while it booted" in lost["reason"]
    (item,) = found.data()["items"]
    assert item["control"] == "init_on_free=1"
    assert item["cost"] > 0

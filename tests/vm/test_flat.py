"""The kernel with the series of patches `flat`: what calls cost there, and that it decides alike.

On Linux 6.1, and on 7.3, for which the series has patches of its own.

`linux-audit/bench/costs.py` measures far more, and `bench/rules/conformance.py --both` compares any
number of cases.
"""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from auditrules.tables import lookup
from conformance import cases
from conformance.calls import Call, Text, Worker, file, mount, program, remove
from conformance.repertoire import CALLS
from conformance.two_kernels import beside
from conformance.witness import Witness, run_witnesses
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.protocol.boot import Boot, KernelRecipe
from hardcost.supply.cache.cache import Cache
from hardcost.supply.kernels.builder import Kernels
from tests.vm.conftest import Command, Outcome

pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.lengthy]

CASES = 800
SEED = 5
MOST_MORE = 5  # instructions, where there is no rule or one
STOCK_MORE = {"debian:6.1": 10, "debian:7.3": 7}
"""Instructions that a rule costs a call on the stock kernel, and more: it is 8 on 7.3."""

ONE = ["-a always,exit -F arch=b64 -S swapon -F uid=70001"]
MANY = [f"-a always,exit -F arch=b64 -S swapon -F uid={70001 + number}" for number in range(160)]
CATCH_ALL = ["-a always,exit -S all -F uid=70000"]
DIRECTORIES = [
    *(f"-w /dir{number}/ -p wa -k tree" for number in range(25)),
    *(f"-a always,exit -F dir=/dir{number} -k tree" for number in range(25, 50)),
]
LEVELS = {
    "none": [],
    "one": ONE,
    "many": MANY,
    "catch-all": CATCH_ALL,
    "many-and-catch-all": [*MANY, *CATCH_ALL],
    "directories": DIRECTORIES,
}
STUDY = """
title = "two kernels"
workloads = ["syscalls calls=null+open"]
baseline = "rules=none"
[base]
kernel = "lean"
audit.enabled = true
[[axis]]
name = "kernel"
default = "stock"
levels.stock = {}
levels.flat.kernel-patches = ["flat"]
[[axis]]
name = "rules"
"""


@pytest.fixture(
    scope="module",
    params=["debian:6.1", pytest.param("debian:7.3", marks=pytest.mark.lengthy)],
)
def source(request: pytest.FixtureRequest) -> str:
    """Return the Linux of which both kernels are built."""
    return str(request.param)


@pytest.fixture(scope="module")
def measured(source: str, tmp_path_factory: pytest.TempPathFactory, cache_root: Path) -> Outcome:
    """Return a run of both kernels under each set of rules, both built if need be."""
    command = Command(tmp_path_factory.mktemp("flat"), cache_root, limit_seconds=3000)
    levels = (f"levels.{name}.audit.rules = {json.dumps(rules)}" for name, rules in LEVELS.items())
    command.write("study.toml", STUDY + "\n".join(levels))
    return command("run", "study.toml", "--source", source, "--format", "json")


@pytest.mark.parametrize("call", ["null", "open"])
def test_rules_that_name_other_calls_cost_nothing(
    source: str, measured: Outcome, call: str
) -> None:
    values = measured.values(call)
    assert values["kernel=flat rules=many"] == values["kernel=flat rules=one"]
    catch_all = "kernel=flat rules=catch-all"
    assert values["kernel=flat rules=many-and-catch-all"] == values[catch_all]
    # On the stock kernel each of them costs some instructions, of which `open` pays twice.
    assert values["rules=many"] > values["rules=one"] + 159 * STOCK_MORE[source]


@pytest.mark.lengthy
def test_rules_on_directories_cost_nothing_where_none_was_met(measured: Outcome) -> None:
    null, opened = measured.values("null"), measured.values("open")
    assert null["kernel=flat rules=directories"] == null["kernel=flat rules=one"]
    assert null["rules=directories"] > null["rules=one"] + 50 * 10
    assert opened["kernel=flat rules=directories"] < opened["rules=directories"] / 2


@pytest.mark.parametrize("call", ["null", "open"])
@pytest.mark.parametrize("rules", ["none", "one", "catch-all"])
def test_without_rules_or_with_one_no_call_is_dearer(
    measured: Outcome, rules: str, call: str
) -> None:
    values = measured.values(call)
    assert values[f"kernel=flat rules={rules}"] <= values[f"rules={rules}"] + MOST_MORE


@pytest.fixture(scope="module")
def both(
    measured: Outcome, source: str, cache_root: Path
) -> tuple[cases.BootResult, cases.BootResult]:
    """Return what the stock kernel and `flat` recorded of the same cases."""
    assert measured.status == 0  # both are built
    machine = _machine(cache_root, source)
    kernels = [KernelRecipe("lean"), KernelRecipe("lean", patches=("flat",))]
    guests = [(machine, Boot(("security=apparmor",), kernel=kernel)) for kernel in kernels]
    for _, boot in guests:
        asyncio.run(machine.make_ready(boot))
    ((stock, flat),) = cases.on_each(guests, CASES, SEED, listed=True)
    return stock, flat


def _machine(cache_root: Path, source: str) -> VirtualMachine:
    cache = Cache(cache_root)
    return VirtualMachine(cache, Hardware("tcg"), kernels=Kernels(cache, Path(source)))


@pytest.mark.usefixtures("read_for")
def test_it_records_what_the_semantics_say(both: tuple[cases.BootResult, cases.BootResult]) -> None:
    disagreements = both[1].comparison.disagreements
    assert not disagreements, "\n\n".join(map(str, disagreements))


def test_it_records_what_the_stock_kernel_records(
    both: tuple[cases.BootResult, cases.BootResult],
) -> None:
    stock, flat = both
    compared = beside(stock.battery, flat.battery, stock.sets, CALLS)
    assert not compared.differences, "\n\n".join(map(str, compared.differences[:5]))
    assert compared.counts["cases"] >= CASES
    assert compared.counts["recorded"] > CASES / 5
    assert flat.comparison.counts["rules deleted"] > 0
    assert not compared.counts["unsteady"]


def test_a_rule_with_path_and_exe_outlives_its_file(source: str, cache_root: Path) -> None:
    """The stock kernel takes the new file for the program, and the rule matches no more."""
    root, worker, watched = "/case0", "/case0/worker", "/case0/watched"
    # Without an architecture, auditctl 4.0.2 complains that `perm` is slow.
    rule = f"-a always,exit -F arch=b64 -F path={watched} -F exe={worker} -F perm=r -k both"
    call = Call(
        name="open",
        worker=0,
        arch="b64",
        number=lookup.calls("b64")["open"],
        arguments=(Text(watched), 0, 0, 0x6000),
        closes=True,
        before=(remove(watched), file(watched)),
    )
    fixture = (mount(root), program(worker), file(watched))
    asked = Witness(fixture, Worker(700, worker), call, (rule, ""), ("both", None), None)
    machine = _machine(cache_root, source)
    found = {}
    for patches in ((), ("flat",)):
        boot = Boot(kernel=KernelRecipe("lean", patches=patches))
        (found[patches],) = run_witnesses(machine, [asked], boot)
        assert not found[patches].complaints.strip()
        assert found[patches].result >= 0
    assert found["flat",].confirms
    assert found[()].found == (None, None)

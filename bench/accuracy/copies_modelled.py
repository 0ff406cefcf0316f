"""`stig-filecopy`, modelled on several processors, beside the ranges that were published.

Run as `python -m bench.accuracy.copies_modelled [--copies 1,8] [--processors 1,2,8] [--files 10]`.
Each configuration is traced once for each number of copies, on one processor, and replayed on
others (docs/trace.md). A row has what copying and removing take, and until their records are done
with, in instructions, and how many times what it takes without hardening. It is a model, no
measurement.
"""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace

from hardcost.analysis.calls.replay import model_trace
from hardcost.analysis.calls.trace import trace_by_pieces
from hardcost.controls.configuration import Setup
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.measure.execute import execute
from hardcost.measure.prepare import prepare
from hardcost.model.workload import Workload
from hardcost.plan import factorial
from hardcost.plan.plan import Trial
from hardcost.study.read import read
from hardcost.supply.cache.cache import Cache
from hardcost.supply.packages.debian import package_root

_BASE = "none"
_CONFIGURATIONS = "none,audit,audit-syslog,stig-full"
_PUBLISHED = {"audit": "1.5 to 6.5", "audit-syslog": "1.4 to 8.2", "stig-full": "44 to 61"}
_LIMIT_SECONDS = 7200.0
_HEAD = (
    "| copies | configuration | processors | until done | ratio | until records are | ratio"
    " | published | busiest process |"
)


def main() -> None:
    """Print a row for each number of copies, configuration and number of processors."""
    words = argparse.ArgumentParser(description="stig-filecopy on several processors, modelled.")
    words.add_argument("--copies", default="1,8")
    words.add_argument("--processors", default="1,2,8")
    words.add_argument("--files", default="10")
    words.add_argument("--configurations", default=_CONFIGURATIONS)
    chosen = words.parse_args()
    processors = [int(word) for word in chosen.processors.split(",")]
    wanted = chosen.configurations.split(",")
    print(_HEAD)
    print("| ---: | --- | ---: | ---: | ---: | ---: | ---: | --- | --- |")
    for copies in chosen.copies.split(","):
        base: dict[int, tuple[int, int]] = {}
        for trial in trials(copies, chosen.files, wanted):
            name = trial.configuration.name
            for number, done, drained, busiest in lengths(trial, processors):
                was_done, was_drained = base.setdefault(number, (done, drained))
                cells = (
                    *(copies, f"`{name}`", f"{number}"),
                    *(f"{done:,}", f"x{done / was_done:.2f}"),
                    *(f"{drained:,}", f"x{drained / was_drained:.2f}"),
                    *(_PUBLISHED.get(name, ""), busiest),
                )
                print(f"| {' | '.join(cells)} |", flush=True)


def trials(
    copies: str, files: str, wanted: Sequence[str], instrument: str = "insn"
) -> Iterator[Trial]:
    """Yield a trial of each configuration for a number of copies, the one without hardening first.

    Where instructions are counted it is traced.
    """
    study = read("stig-filecopy", package_root, None, None)
    workload = Workload("filecopy", (("concurrency", copies), ("files", files)))
    plan = factorial.plan(study, factorial.Overrides((workload,), instrument, repetitions=1))
    is_traced = instrument == "insn"
    plan = plan.set_up(Setup(by_function=is_traced, traced=is_traced))
    found = [one for one in plan.trials if one.configuration.name in wanted]
    for trial in sorted(found, key=lambda one: one.configuration.name != _BASE):
        yield replace(trial, perturbations=(0,))


def lengths(trial: Trial, processors: Sequence[int]) -> Iterator[tuple[int, int, int, str]]:
    """Yield what a trial takes on each number of processors, and who is busiest.

    That is until it is done, and until its records are, too.
    """
    machine = VirtualMachine(Cache(), Hardware("icount"))
    record = asyncio.run(execute(prepare(trial, machine), machine, _LIMIT_SECONDS))
    traces = [trace_by_pieces(one, record.workload, record.role) for one in record.traces]
    for each in zip(*(model_trace(one, processors) for one in traces), strict=True):
        name, most = max((one.busiest for one in each), key=lambda it: it[1])
        done, drained = sum(one.length for one in each), sum(one.drained for one in each)
        yield each[0].processors, done, drained, f"{name} {most:,}"


if __name__ == "__main__":
    main()

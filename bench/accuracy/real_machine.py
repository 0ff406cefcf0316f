"""Audit rules in nanoseconds on this machine, and in instructions.

Run as `python -m bench.accuracy.real_machine`.

Run by hand, as root, on a machine that is not in use otherwise: it loads audit rules into this
machine's own kernel, which `make test` never does. hardcost puts back what was there; this bench
compares `auditctl -l` and `-s`, every setting below /proc/sys, and the names of all files below
/etc with what they were, and ends with 1 if any differs. What the kernel itself changes is left
out: files that can't be written, and those that differ between two looks at them at once.

The same study is measured twice: here under the instrument time, and in a guest with Debian's
kernel under insn. `--precision` and `--time-limit` are those of `hardcost run`. `--keep FOLDER`
keeps both results, and takes from there what is in it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import stat
import subprocess  # noqa: TID251  (a benchmark starts hardcost as a shell does)
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from bench.rules.sample_rules import sample_rules
from hardcost.host.process import run
from hardcost.machines.vm.content.initramfs import AUDIT_PACKAGES
from hardcost.supply.cache.cache import Cache
from hardcost.supply.packages import debian

_CALLS = ("null", "read", "stat", "open", "chmod")
_NO_RULES = "0 rules"
_SIZES = (0, 1, 10, 50, 100, 160)
_RECORDING = "-a always,exit -F arch=b64 -S chmod -F key=modes"
_HARDCOST = (sys.executable, "-c", "from hardcost.cli.main import main; main()")


def rule_sets() -> dict[str, list[str]]:
    """Return rules by the name of their configuration; most match none of the calls."""
    sets = {
        _named(size): [
            f"-a always,exit -F arch=b64 -S swapon -F uid={70001 + at}" for at in range(size)
        ]
        for size in _SIZES
    }
    sets["10 dir rules"] = [
        f"-a always,exit -F dir=/opt/hardcost-real-{at} -F perm=wa" for at in range(10)
    ]
    samples = sample_rules(Cache()) / "30-stig.rules"
    written = samples.read_text(encoding="utf-8").splitlines()
    sets["STIG samples"] = [line.strip() for line in written if line.startswith(("-a", "-w"))]
    return sets


def study() -> str:
    """Return the study's file: audit off, each set, and each with a rule that records chmod."""
    sets = rule_sets()
    recorded = {_recorded(name): [*rules, _RECORDING] for name, rules in sets.items()}
    lines = [
        'title = "audit rules on a real kernel"',
        f'baseline = "{_NO_RULES}"',
        f'workloads = ["syscalls calls={"+".join(_CALLS)}"]',
        "[[configuration]]",
        'name = "audit off"',
    ]
    for name, rules in (sets | recorded).items():
        listed = ", ".join(map(json.dumps, rules))
        lines += ["[[configuration]]", f'name = "{name}"']
        lines += [f"audit = {{ enabled = true, rules = [{listed}] }}"]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Measure on both machines, print the table, and compare what was there with what is."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--precision", default="1%")
    parser.add_argument("--time-limit", default="600")
    parser.add_argument("--keep", type=Path)
    chosen = parser.parse_args()
    with contextlib.ExitStack() as opened:
        folder = chosen.keep or Path(opened.enter_context(tempfile.TemporaryDirectory()))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "real.toml").write_text(study(), encoding="utf-8")
        counted = measured(folder, "insn", ["--machine", "vm"])
        precise = ["--precision", chosen.precision, "--time-limit", chosen.time_limit]
        with unchanged():
            timed = measured(folder, "time", ["--machine", "host", "--yes", *precise])
    show(timed, counted)


def measured(folder: Path, instrument: str, words: Sequence[str]) -> dict[str, Any]:
    """Return the study's result under an instrument, kept in the folder."""
    kept = folder / f"{instrument}.json"
    if not kept.exists():
        command = [*_HARDCOST, "run", str(folder / "real.toml"), "--instrument", instrument]
        command += [*words, "--format", "json", "--store", str(folder / "real.sqlite")]
        path = os.pathsep.join((str(auditctl(folder).parent), os.environ["PATH"]))
        done = subprocess.run(  # noqa: S603  (hardcost itself)
            command, check=True, stdout=subprocess.PIPE, env={**os.environ, "PATH": path}
        )
        kept.write_bytes(done.stdout)
    found: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
    return found


@contextlib.contextmanager
def unchanged() -> Iterator[None]:
    """Compare this machine before and after a block; end with 1 where it differs."""
    with tempfile.TemporaryDirectory() as folder:
        program = auditctl(Path(folder))
        before, still = _state(program), _state(program)
        yield
        after = _state(program)
    same = [key for key, value in before.items() if still.get(key) == value]
    moved = [key for key in same if after.get(key) != before[key]]
    new = [key for key in after if key not in before and key not in still]
    print(f"compared with before: {len(same):,} settings and listings; {len(moved)} differ")
    for key in (*moved, *new):
        print(f"  {key}: {before.get(key)!r}, now {after.get(key)!r}")
    if moved or new:
        sys.exit(1)


def _state(program: Path) -> dict[str, str]:
    """Return audit's rules and state, all settings, and the files below /etc."""
    found = {f"auditctl {word}": run([program, word]) for word in ("-l", "-s")}
    for folder, _, names in os.walk("/proc/sys"):
        for name in names:
            with contextlib.suppress(OSError):
                path = Path(folder, name)
                if path.stat().st_mode & stat.S_IWUSR:  # what can't be written only reports
                    found[str(path)] = path.read_text(encoding="utf-8", errors="replace")
    found["/etc"] = "\n".join(sorted(str(path) for path in Path("/etc").rglob("*")))
    return found


def auditctl(folder: Path) -> Path:
    """Write a program that starts the audit package's own auditctl, which need not be installed."""
    cache = Cache()
    roots = [debian.package_folder(cache, package) for package in AUDIT_PACKAGES[:-1]]
    program = next(p for root in roots for p in root.rglob("auditctl") if p.is_file())
    libraries = dict.fromkeys(str(one.parent) for root in roots for one in root.rglob("*.so.*"))
    path = folder / "bin" / "auditctl"
    path.parent.mkdir(exist_ok=True)
    path.write_text(
        f'#!/bin/sh\nLD_LIBRARY_PATH={":".join(libraries)} exec {program} "$@"\n',
        encoding="utf-8",
    )
    path.chmod(0o755)
    return path


def show(timed: Mapping[str, Any], counted: Mapping[str, Any]) -> None:
    """Print both numbers of each call under each set, and both multiples of no rules."""
    print(f"time: {timed['environment']['kernel']}; insn: {counted['environment']['kernel']}")
    for note in timed["notes"]:
        print(f"  {note}")
    for call in _CALLS:
        title = f"{call}, recorded" if call == "chmod" else call
        print(f"\n{title:<18}{'ns':>9}{'interval':>20}{'insn':>9}{'x in ns':>9}{'x in insn':>11}")
        for name in ("audit off", *rule_sets()):
            under = _recorded(name) if call == "chmod" and name != "audit off" else name
            real, exact = _cell(timed, under, call), _cell(counted, under, call)
            base = _recorded(_NO_RULES) if call == "chmod" else _NO_RULES
            times = real["value"] / _cell(timed, base, call)["value"]
            counts = exact["value"] / _cell(counted, base, call)["value"]
            interval = f"{real['low']:,.1f}..{real['high']:,.1f}"
            print(
                f"{name:<18}{real['value']:>9,.1f}{interval:>20}{exact['value']:>9,.0f}"
                f"{times:>9.2f}{counts:>11.2f}"
            )


def _cell(found: Mapping[str, Any], configuration: str, metric: str) -> dict[str, float]:
    return next(
        one
        for one in found["cells"]
        if one["configuration"] == configuration and one["metric"] == metric
    )


def _named(size: int) -> str:
    return f"{size} rule{'' if size == 1 else 's'}"


def _recorded(name: str) -> str:
    return f"{name}, chmod recorded"


if __name__ == "__main__":
    main()

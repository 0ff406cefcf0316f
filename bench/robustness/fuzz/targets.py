"""The targets of fuzzing: all that reads what a user, a guest or a damaged disk hands over."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from auditrules.cost import histogram
from auditrules.explain.read_event import parse_event
from auditrules.load.known_paths import read_list
from auditrules.model.fault import RulesError
from bench.robustness import fuzz_rules
from bench.robustness.fuzz import mutate, seeds
from bench.robustness.fuzz.campaign import Target
from hardcost.analysis.change.here import compare_answers
from hardcost.analysis.finding_text import finding_from_text
from hardcost.analysis.results_file import here_answer_of
from hardcost.controls.configuration import Configuration
from hardcost.decompress import DamagedError
from hardcost.errors import HardcostError, InputError, MachineError, StoreError
from hardcost.instruments.names import instrument_named
from hardcost.library.here_policy import apply_policy, here_policy
from hardcost.machines.vm import vmlinux
from hardcost.machines.vm.content import modules
from hardcost.measure.execute import execute
from hardcost.measure.prepare import prepare
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.role import Named
from hardcost.model.workload import Workload
from hardcost.plan import factorial, leave_one_out
from hardcost.plan.plan import Trial
from hardcost.profiles import audit_rules, catalogue
from hardcost.profiles.importers import khc
from hardcost.profiles.importers.scap import settings
from hardcost.protocol import answer_lines
from hardcost.show.exports.here_comparison import comparison_markdown
from hardcost.show.here import here_lines
from hardcost.show.here_comparison import comparison_lines
from hardcost.show.json import to_json
from hardcost.store.store import Store
from hardcost.study import read
from hardcost.supply.images import partitions
from hardcost.supply.kernels import config, module_file, patches
from hardcost.supply.packages import archive, deb, rpm
from hardcost.supply.packages.unpack_child import KERNEL
from hardcost.units import visible
from tests.fakes.machine import FakeMachine

_MEMORY = "/dev/shm"  # noqa: S108  (a folder of our own is created in it)
_MOST_TRIALS = 60  # of a plan that are prepared
_MOST_UNPACKED = 64 << 20  # bytes of an archive, lowered from what kernels need


def _file(data: bytes, name: str) -> Path:
    """Return the path of a file with this content, always the same path."""
    path = Path(_folder()) / name
    path.write_bytes(data)
    return path


_made: list[tempfile.TemporaryDirectory[str]] = []


def _folder() -> str:
    if not _made:
        memory = _MEMORY if Path(_MEMORY).is_dir() else None  # no waiting for a disk
        _made.append(tempfile.TemporaryDirectory(prefix="hardcost-fuzz-", dir=memory))
    return _made[0].name


def _no_package(package: str) -> Path:
    raise InputError(f"no package {package} while fuzzing")


# Rules --------------------------------------------------------------------------------------------


def _rules(data: bytes) -> None:
    for _ in fuzz_rules.tried(data):
        pass


def _verb(*words: str, no: bool = False, ending: str = "x.rules") -> Callable[[bytes], None]:
    """Return a function that runs a command on a file; status 1 is allowed if it can mean no."""

    def run(data: bytes) -> None:
        from hardcost.cli.command import hardcost  # noqa: PLC0415  (slow)

        path = _file(data, ending)
        argv = [str(path) if word == "FILE" else word for word in words]
        silent = io.TextIOWrapper(io.BytesIO(), "utf-8", errors="replace")
        with contextlib.redirect_stdout(silent), contextlib.redirect_stderr(silent):
            try:
                status = hardcost.main(argv, standalone_mode=False) or 0
            except click.exceptions.Exit as stop:
                status = stop.exit_code
            except click.ClickException:
                status = 2
            except HardcostError as error:
                status = error.exit_status
                for problem in error.problems:
                    visible(problem.message)
        if status not in ((0, 1, 2) if no else (0, 2)):
            raise AssertionError(f"status {status} of {' '.join(words)}")

    return run


# Files of TOML, XML and JSON ----------------------------------------------------------------------


def _profile(data: bytes) -> None:
    loaded = catalogue.load(str(_file(data, "x.toml")), _no_package)
    plan = leave_one_out.bill_plan(loaded, (Workload("syscalls"),))
    _worked_out(plan.trials)


def _study(data: bytes) -> None:
    study = read.read(str(_file(data, "x.toml")), _no_package)
    _worked_out(factorial.plan(study).trials)


def _worked_out(trials: Sequence[Trial]) -> None:
    machine = FakeMachine(lambda _boot, _job: ())
    for trial in trials[:_MOST_TRIALS]:
        prepare(trial, machine)
        json.dumps([control.name for control in trial.configuration.controls])


def _stream(data: bytes) -> None:
    path = _file(data, "x.xml")
    with contextlib.suppress(InputError):
        imported = audit_rules.of_scap(path, "stig")
        imported.rules()
        catalogue.load(str(_file(imported.toml().encode(), "again.toml")))
    settings.settings_of(path, "stig")


def _report(data: bytes) -> None:
    text = khc.profile_toml(khc.read(data, "x.json"), "x.json")
    catalogue.load(str(_file(text.encode(), "again.toml")))


def _configuration(data: bytes) -> None:
    text = config.file_text(_file(data, "x.config"))
    config.check_fit(config.read(text, "x.config"))


def _event(data: bytes) -> None:
    parse_event(data.decode(errors="surrogateescape"))


def _workload(data: bytes) -> None:
    found = read.workload_from_words(data.decode(errors="replace"))
    _worked_out([Trial(Configuration(Named("none")), found, "insn", 0)])
    _worked_out([Trial(Configuration(Named("none")), found, "time", 0)])


def _paths(data: bytes) -> None:
    read_list(data, "paths")


# Disks, stores, guests ----------------------------------------------------------------------------


def _kernel(data: bytes) -> None:
    vmlinux.extract(_file(data, "vmlinuz"))


def _module(data: bytes) -> None:
    folder = Path(_folder()) / "modules"
    folder.mkdir(exist_ok=True)
    for ending in module_file.ENDINGS:
        (folder / "ext4.ko").write_bytes(data)
        (folder / "ext4.ko").rename(folder / f"ext4.ko{ending}")
        with contextlib.suppress(MachineError):
            modules.files(folder)
        (folder / f"ext4.ko{ending}").unlink()


def _deb(data: bytes) -> None:
    _written(lambda folder: deb.unpack(io.BytesIO(data), folder, None))


def _rpm(data: bytes) -> None:
    content = rpm.content(io.BytesIO(data))
    _written(lambda folder: archive.write(_members(content, "cpio"), folder, KERNEL))


def _tar(data: bytes) -> None:
    _written(lambda folder: archive.write(_members(iter([data]), "tar"), folder, None))


def _cpio(data: bytes) -> None:
    _written(lambda folder: archive.write(_members(iter([data]), "cpio"), folder, None))


_members = archive.members


def _written(unpack: Callable[[Path], object]) -> None:
    """Have an archive written, and look that nothing lies outside of its folder, nor too much."""
    outside = Path(_folder()) / "outside"
    archive.MOST_BYTES = _MOST_UNPACKED
    (outside / "folder").mkdir(parents=True)
    try:
        unpack(outside / "folder")
    finally:
        names = [one.name for one in outside.iterdir()]
        sizes = [one.lstat().st_size for one in outside.rglob("*") if one.is_file()]
        shutil.rmtree(outside)
        if names != ["folder"]:
            raise AssertionError(f"beside its folder it wrote {names}")
        if sum(sizes) > 2 * _MOST_UNPACKED:  # of files, and of hard links
            raise AssertionError(f"it wrote {sum(sizes)} bytes")


def _disk(data: bytes) -> None:
    path = _file(data, "disk.img")
    partitions.kind_of_image(path)
    partitions.partitions(path)


def _store(data: bytes) -> None:
    _read_store(_file(data, "store.sqlite"))


def _record(data: bytes) -> None:
    """Read a store whose one record is `data`, as text."""
    path = Path(_folder()) / "record.sqlite"
    path.unlink(missing_ok=True)
    with Store(path) as store:
        run = store.start("study-1", "plan", "study", fresh=False)
        store.save(run, seeds.record())
    connection = sqlite3.connect(path)
    text = data.decode(errors="replace")
    connection.execute("UPDATE records SET body = ?", (text,))
    connection.execute("UPDATE runs SET finished = '1', finding = ?", (text,))
    connection.commit()
    connection.close()
    _read_store(path)


def _read_store(path: Path) -> None:
    with Store(path) as store:
        store.runs()
        store.record("id")
        store.durations()
        store.take_unfinished("plan")
        _, text = store.finding("last")
        finding_from_text(text)


def _answers(data: bytes) -> None:
    found = answer_lines.read(_file(data, "answers"))
    controls = (Sysctl("kernel.kptr_restrict", "2"),)
    for workload in (
        Workload("syscalls", (("calls", "null"),)),
        Workload("fio", (("cases", "latency-read"),)),
        Workload("filecopy"),
        Workload("dd"),
        Workload("mariadb"),
        Workload("apache-prefork"),
        Workload("postfix"),
        Workload("unixbench"),
        Workload("build"),
    ):
        trial = Trial(Configuration(Named("hard"), controls), workload, "insn", 0)
        machine = FakeMachine(lambda _boot, _job: found)
        instrument_named("insn")
        with contextlib.suppress(MachineError, InputError):
            record = asyncio.run(execute(prepare(trial, machine), machine, 60))
            type(record).model_validate_json(record.model_dump_json())


_RULE_WORDS = [
    *(b"-a", b"-A", b"-w", b"-W", b"-D", b"-p", b"-k", b"-S", b"-F", b"-C", b"-e", b"-b", b"-i"),
    *(b"always,exit", b"never,exit", b"never,task", b"always,filesystem", b"arch=b32", b"path=/a"),
    *(b"dir=/etc", b"perm=wa", b"auid>=1000", b"exit=-EACCES", b"key=x", b"success!=1", b"all"),
]
_TOML_WORDS = [
    *(b"[", b"]", b"[[", b"]]", b"=", b".", b'"', b"'''", b'"""', b"{", b"}", b",", b"\n", b"#"),
    *(b"title", b"audit", b"rules", b"files", b"profile", b"boot", b"sysctl", b"kconfig", b"axis"),
    *(b"values", b"levels", b"switch", b"default", b"repeat", b"from", b"cumulative", b"name"),
    *(b"kernel", b"kernel-patches", b"kconfig-group", b"lsm", b"mounts", b"auditd", b"syslog"),
    *(b"true", b"1979-05-27T07:32:00Z", b"1_000", b"0x1f", b"1e400", b"inf", b"workloads"),
    *(
        b"true.true",
        b"a.b.c.d",
        b"a." * 2500,
        b"1" * 5000,
        b"[[axis]]",
        b"{value}",
        b"{n}",
        b"scale",
    ),
]
_text_of_rules = (mutate.raw, mutate.words(_RULE_WORDS), mutate.words(_RULE_WORDS), mutate.lines)
_toml = (mutate.raw, mutate.words(_TOML_WORDS), mutate.words(_TOML_WORDS), mutate.lines)
_json = (mutate.tree, mutate.tree, mutate.raw)
_bytes = (mutate.raw,)
_plain = (mutate.raw, mutate.words(), mutate.lines)
_faulty = (RulesError,)
_bad = (InputError,)
_unpacking = (DamagedError, OSError)  # both of which unpacker.py reports


def _listed() -> Sequence[Target]:
    verbs = {
        "lint": _verb("rules", "lint", "FILE", "--format", "sarif", no=True),
        "cost": _verb("rules", "cost", "FILE", "--leave-out-faulty", "--format", "json"),
        "explain": _verb(
            "rules", "explain", "FILE", "--leave-out-faulty", "--event", "syscall=open"
        ),
        "import": _verb("import", "audit", "FILE"),
        "prove": _verb("rules", "prove", "FILE", "FILE", "--leave-out-faulty", no=True),
        "optimize": _verb(*("rules", "optimize", "FILE", "-o", "-", "--leave-out-faulty"), no=True),
    }
    events = [one.encode() for one in seeds.EVENTS]
    workloads = [one.encode() for one in seeds.WORKLOADS]
    paths = [b"/etc/\n/etc/passwd\n# x\n\n/bin/sh\n"]
    return [
        Target("rules", seeds.rules, _text_of_rules, _rules, _faulty),
        *(Target(name, seeds.rules, _text_of_rules, run, ()) for name, run in verbs.items()),
        Target("profile", seeds.profiles, _toml, _profile, _bad),
        Target("study", seeds.studies, _toml, _study, _bad),
        Target("scap", seeds.streams, (mutate.elements, mutate.words(), mutate.raw), _stream, _bad),
        Target("khc", seeds.reports, _json, _report, _bad),
        Target("kernel", seeds.kernels, _bytes, _kernel, _bad),
        Target("module", seeds.packed, _bytes, _module, ()),
        Target("deb", seeds.debs, _bytes, _deb, _unpacking),
        Target("tar", seeds.tars, _bytes, _tar, _unpacking),
        Target("rpm", seeds.rpms, _bytes, _rpm, _unpacking),
        Target("cpio", seeds.cpios, _bytes, _cpio, _unpacking),
        Target("patch", seeds.patches, (*_plain, mutate.lines), _patch, _bad),
        Target("config", seeds.configurations, _plain, _configuration, _bad),
        Target("histogram", seeds.histograms, (*_plain, *_json), _histogram, _faulty),
        Target("answer", seeds.looks, _json, _compared, _bad),
        Target("policy", seeds.policies, _toml, _policy, _bad),
        Target("event", lambda: events, _plain, _event, _faulty),
        Target("workload", lambda: workloads, _plain, _workload, _bad),
        Target("paths", lambda: paths, _plain, _paths, _faulty),
        Target("disk", seeds.disks, _bytes, _disk, (MachineError, InputError)),
        Target("store", seeds.stores, _bytes, _store, (StoreError, InputError)),
        Target("record", seeds.records, _json, _record, (StoreError, InputError)),
        Target(
            "answers", seeds.answers, (_by_lines(mutate.tree), *_plain), _answers, (MachineError,)
        ),
    ]


def _patch(data: bytes) -> None:
    for one in patches.read([str(_file(data, "x.patch"))]):
        _ = one.text


def _histogram(data: bytes) -> None:
    histogram.read(data, "counts")


def _compared(data: bytes) -> None:
    found = here_answer_of(_file(data, "x.json"))
    both = compare_answers(found, here_answer_of(_file(seeds.looks()[0], "y.json")))
    _shown(comparison_lines(both))
    comparison_markdown(both)
    to_json(both)


def _shown(lines: Iterable[tuple[int, str]]) -> None:
    for _, line in lines:
        visible(line)


def _policy(data: bytes) -> None:
    policy = here_policy(_file(data, "x.toml"))
    found = apply_policy(
        here_answer_of(_file(seeds.looks()[0], "y.json")), policy, datetime.now(UTC).date()
    )
    _shown(here_lines(found))


def _by_lines(inner: mutate.Mutator) -> mutate.Mutator:
    """Return a mutator that changes one line."""

    def changed(generator: Any, data: bytes) -> bytes:  # noqa: ANN401
        lines = data.split(b"\n")
        at = generator.randrange(len(lines))
        lines[at] = inner(generator, lines[at])
        return b"\n".join(lines)

    return changed


TARGETS: dict[str, Target] = {target.name: target for target in _listed()}
"""All targets by name."""

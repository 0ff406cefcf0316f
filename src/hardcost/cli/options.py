"""Options that several verbs share, and the values that they become."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

from hardcost.cli import console
from hardcost.cli.commands.shared import FORMATS, STARTS
from hardcost.cli.lazy import imported
from hardcost.cli.waiting import until_done
from hardcost.design.plan import Setup
from hardcost.errors import InputError, Problem
from hardcost.instruments.insn import INSN
from hardcost.instruments.names import INSTRUMENTS, RECORDERS
from hardcost.instruments.time import TIME
from hardcost.machines import debianpackages, names
from hardcost.machines.cache import Cache
from hardcost.machines.cacheplace import default_root
from hardcost.machines.wanted import Wanted
from hardcost.report.exports import csvtext
from hardcost.run.workers.lab import lab_at
from hardcost.study.read import workload

if TYPE_CHECKING:
    from pathlib import Path

    from hardcost.cli.monitors import Form
    from hardcost.design.plan import Workload
    from hardcost.machines.machine import Machine
    from hardcost.machines.progress import Listener
    from hardcost.run.workers.lab import Lab


@dataclass(frozen=True)
class Choices:
    """What the user chose of how to measure and where results go.

    `wanted` is what of the machine, whose instrument the plan decides; `lab` is where the workers
    are that trials run on, None if they run here.
    """

    machine: str
    instrument: str | None
    workloads: tuple[Workload, ...] | None
    seeds: tuple[int, ...] | None
    repetitions: int | None
    wanted: Wanted
    jobs: int
    fresh: bool
    resume: bool
    timeout: float | None
    fresh_boot: bool | None
    init: Literal["probe", "systemd"] | None
    record: tuple[str, ...] | None
    store: Path
    report: Path | None
    format: str
    dry_run: bool
    progress: Form = "auto"
    lab: Lab | None = None
    everything: bool = False

    @property
    def running(self) -> bool:
        """Whether the machine runs already, so that hardcost does not boot it."""
        return names.is_running(self.machine)

    @property
    def measured_by(self) -> str:
        """The instrument of a bill: the one chosen, or what the machine is for."""
        return self.instrument or usual_instrument(self.machine)

    @property
    def setup(self) -> Setup:
        """Return how guests come to their work where no study says."""
        return Setup(self.fresh_boot or False, self.init or "probe", self.record or ())


def counting(chosen: Choices) -> Choices:
    """Return how instructions are counted, in guests, beside a running machine's times."""
    return replace(
        chosen,
        machine=names.counter(chosen.machine),
        instrument=INSN.name,
        seeds=None,
        repetitions=None,
        wanted=Wanted(),
        lab=None,
    )


def usual_instrument(machine: str) -> str:
    """Return the instrument that bills where nobody has chosen one."""
    return TIME.name if names.is_running(machine) else INSN.name


def started(words: dict[str, Any]) -> tuple[str, ...]:
    """Take the boot parameters out of `words["boot"]`, and leave how trials start there."""
    boots: tuple[str, ...] = words["boot"]
    starts = [word for word in boots if word in STARTS]
    words["boot"] = starts[-1] if starts else None
    return tuple(word for word in boots if word not in STARTS)


def choices(words: dict[str, Any], usual: str | None = None) -> Choices:
    """Return the values of the options that `measuring` added.

    `usual` is the instrument where none is chosen; None: not known yet.

    Raises:
        InputError: A workload is wrong, the machine is none that can be had, or two options
            contradict each other.
        MachineError: The machine lacks something on this host.
    """
    console.form(words["progress"])
    form = form_of(words["format"], raw=words.get("raw", False))
    if form not in FORMATS:
        imported("hardcost.cli.dataout:check")(form)  # what it needs takes long to import
    if words["fresh"] and words["resume"]:
        raise InputError("--fresh starts a new run and --resume continues one: use one of them")
    if words["image"] and words["rootfs"]:
        raise InputError("--image and --rootfs each name the guest's root: take one of them")
    if words["timeout"] is not None and math.isnan(words["timeout"]):
        raise InputError("--timeout: nan is no number of seconds")  # no range refuses it
    asked, seeds = words["workload"], words["seeds"]
    own = None if asked is None else workloads(asked, words["instrument"] or usual)
    wanted = Wanted(
        kernel=words["kernel"],
        source=words["source"],
        image=words["image"],
        rootfs=words["rootfs"],
        cpu=words["cpu"],
        emulated_time=words.get("force_emulated_time", True),
        unconfined=words["allow_unconfined_build"],
        yes=words["yes"],
    )
    if "," in words["machine"]:
        raise InputError(
            "--machine names several machines, and this verb measures on one",
            hint="`hardcost run` measures a study on several",
        )
    names.check(words["machine"], wanted)
    return Choices(
        machine=words["machine"],
        instrument=words["instrument"],
        workloads=own,
        seeds=None if seeds is None else tuple(range(1, seeds + 1)),
        repetitions=words["repetitions"],
        wanted=wanted,
        jobs=1 if words["scheduler"] == "serial" else words["jobs"],
        fresh=words["fresh"],
        resume=words["resume"],
        timeout=words["timeout"],
        fresh_boot=None if words["boot"] is None else words["boot"] == "fresh",
        init=words["init"],
        record=None if words["record"] is None else _recorders(words["record"]),
        store=words["store"],
        report=words["report"],
        format=form,
        dry_run=words["dry_run"],
        progress=words["progress"],
        lab=lab(words),
        everything=words.get("all", False),
    )


def form_of(format: str, *, raw: bool) -> str:  # noqa: A002  (the option's name)
    """Return the form of a result in a format, with `--raw` or without.

    Raises:
        InputError: The format is not CSV, and `--raw` is for nothing else.
    """
    if raw and format != csvtext.CSV:
        raise InputError("--raw is for CSV alone", hint="add --format csv, or leave --raw out")
    return csvtext.RAW if raw else format


def lab(words: dict[str, Any]) -> Lab | None:
    """Return where workers are; None where nobody asked for them.

    Raises:
        InputError: The address or the certificates are not as they should be.
    """
    certificates = (words["tls_ca"], words["tls_cert"], words["tls_key"])
    if words["workers"] is not None:
        found = lab_at(words["workers"], *certificates, insecure=words["insecure"])
        warn(found)
        return found
    if words["insecure"]:
        raise InputError("--insecure is for --workers, which is missing")
    if any(certificates):
        raise InputError("--tls-ca, --tls-cert and --tls-key are for --workers, which is missing")
    return None


def warn(lab: Lab) -> None:
    """Say who can get into a lab, if it has no TLS."""
    if lab.risk is not None:
        console.note(lab.risk)


def _recorders(text: str) -> tuple[str, ...]:
    """Return the instruments in text such as `cpu,avc`; none if it is empty.

    Raises:
        InputError: There is none of a name.
    """
    names = tuple(dict.fromkeys(filter(None, text.split(","))))
    for name in names:
        if name not in RECORDERS:
            raise InputError(
                f"--record: there is no recorder '{name}'",
                hint=f"the recorders are {', '.join(RECORDERS)}",
            )
    return names


def workloads(text: str, instrument: str | None = None) -> tuple[Workload, ...]:
    """Return the workloads in text such as `build,syscalls calls=null+open`.

    Their values have to be right under `instrument`, or under any if it is None.

    Raises:
        InputError: There is no such workload or parameter, a word is not KEY=VALUE, a value is
            wrong, or a workload is named twice.
    """
    found: list[Workload] = []
    problems: list[Problem] = []
    for one in text.split(","):
        try:
            read = workload(one, instrument)
        except InputError as error:
            problems += error.problems
            continue
        if read in found:
            hint = "it is measured once: leave one of them out"
            problems.append(Problem(f"'{read}' is named twice", hint=hint))
        found.append(read)
    if problems:
        raise InputError.of(
            tuple(replace(one, message=f"--workload: {one.message}") for one in problems)
        )
    return tuple(found)


def machine(chosen: Choices, instrument: str, listener: Listener) -> Machine:
    """Return the machine for an instrument; `listener` hears what it says while it gets ready.

    Raises:
        MachineError: It can't measure so: times are wanted of a processor, say, without KVM.
    """
    wanted = replace(chosen.wanted, instrument=instrument, exact=INSTRUMENTS[instrument].exact)
    return until_done(names.make(chosen.machine, wanted, listener))


def package_root(package: str) -> Path:
    """Return the folder in which a Debian package lies unpacked."""
    return debianpackages.unpacked(_packages(default_root()), package)


@functools.cache
def _packages(root: Path) -> Cache:
    """Return a cache that looks at each package once a run, however many profiles read it."""
    return Cache(root)

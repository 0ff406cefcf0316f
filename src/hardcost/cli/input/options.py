"""Options that several verbs share, each declared once; nothing here imports a verb's work."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

import click

from auditrules.cli.options import (
    EXISTING_FILE,
    FILE,
    FORMATS,
    Decorator,
    NamedPath,
    format_option,
    option,
    takes,
)
from hardcost.cli.input import completion
from hardcost.cli.verb import CLUSTER
from hardcost.errors import InputError
from hardcost.instruments.names import INSTRUMENTS
from hardcost.instruments.parallel import MOST_PROCESSORS, PARALLEL
from hardcost.show.exports.formats import GATES, RESULTS
from hardcost.store.location import default_path

_SETTINGS = "Settings to add to PROFILE"
_MEASURED = "What is measured, and where"
_GUESTS = "What guests are made of"
_TRIALS = "How trials run"
_RESULTS = "Results and progress"

_FORMERLY = {
    "fresh": "--start cold boots the guest for each trial",
    "snapshot": "--start snapshot restores each trial from a snapshot of a booted guest",
}
"""What `--boot` took besides words of the kernel's command line, and what does the same."""

LSM_MODES = ("none", "apparmor", "permissive", "enforcing")
"""The values of `--lsm`: `mechanisms.lsm.LsmMode`."""

RESULT_FORMATS = (*FORMATS, *RESULTS)
"""The formats of a run's or bill's result."""

GATE_FORMATS = (*FORMATS, *GATES)
"""The formats of the answer of a gate."""

# Groups of options --------------------------------------------------------------------------------


def _join_values(
    _context: click.Context, _option: click.Parameter, each: tuple[str, ...]
) -> str | None:
    """Return the values of an option that was repeated as one."""
    return ",".join(each) if each else None


def _kernel_words(
    context: click.Context, _option: click.Parameter, words: tuple[str, ...]
) -> tuple[str, ...]:
    """Return words of the kernel's command line."""
    for word in words:
        if word in _FORMERLY and not context.resilient_parsing:
            raise InputError(
                f"--boot: '{word}' is no word of the kernel's command line", hint=_FORMERLY[word]
            )
    return words


def boot_option(help_text: str, section: str = _SETTINGS) -> Any:
    """Return the option `--boot`."""
    return option(
        "--boot",
        section=section,
        multiple=True,
        metavar="WORD",
        callback=_kernel_words,
        help=help_text,
    )


# Single options ----------------------------------------------------------------------------------


def raw_option(section: str = _RESULTS) -> Any:
    """Return the option `--raw`: whether a program reads the CSV, and no spreadsheet."""
    return option(
        "--raw",
        section=section,
        is_flag=True,
        help="Write CSV for programs: without the apostrophe that keeps a spreadsheet from taking a"
        " text for a formula.",
    )


def store_option(section: str = "") -> Any:
    """Return the option `--store`."""
    return option(
        "--store",
        section=section,
        type=FILE,
        default=default_path,
        show_default=False,
        help="The SQLite file that keeps all runs (default: $HARDCOST_STORE, else"
        " ~/.local/share/hardcost/hardcost.sqlite).",
    )


def qemu_option(section: str = "") -> Any:
    """Return the option `--qemu`: the emulator of the guests."""
    return option(
        "--qemu",
        section=section,
        metavar="NAME",
        shell_complete=completion.emulators,
        help="The QEMU that runs guests: debian:13, Debian's, fetched once and not installed; host,"
        " the one installed here (the default); a folder that holds one; or a program.",
    )


def guest_option(section: str = "") -> Any:
    """Return the option `--guest`: the release of Debian that guests are made of."""
    return option(
        "--guest",
        section=section,
        metavar="NAME",
        shell_complete=completion.releases,
        help="The release of Debian that guests are made of, with its kernel and packages:"
        " debian:12 or debian:13 (default: this host's).",
    )


def unconfined_option(section: str = "") -> Any:
    """Return the option `--allow-unconfined-build`."""
    return option(
        "--allow-unconfined-build",
        section=section,
        is_flag=True,
        help="Build kernels although this machine can't sandbox the build: your patches and"
        " sources then run code here, as you.",
    )


def tls_option(name: Literal["ca", "cert", "key"], section: str = "") -> Any:
    """Return an option that names a file for TLS between the hosts of a cluster."""
    what = {
        "ca": "The certificate authority that signed the hosts' certificates (default for all"
        " three: Dask's configuration, else what `hardcost cluster` made on this host).",
        "cert": "This host's certificate.",
        "key": "The private key of this host's certificate.",
    }
    return option(f"--tls-{name}", section=section, type=EXISTING_FILE, help=what[name])


def insecure_option(section: str = "") -> Any:
    """Return the option `--insecure`."""
    return option(
        "--insecure",
        section=section,
        is_flag=True,
        help="Allow connections without TLS (tcp://) to other addresses than 127.0.0.1. Whoever"
        " reaches the port can then run programs as you.",
    )


def output_option() -> Any:
    """Return the option `--output`, the file that a profile or a trace goes to."""
    return option(
        "-o",
        "--output",
        type=FILE,
        help="Write the result to this file (default: standard output).",
    )


def precision_option() -> Any:
    """Return the option `--precision`: how precise times have to be."""
    return option(
        "--precision",
        metavar="SHARE",
        help="With --instrument time: add trials until the confidence interval of each ratio is"
        " +/- this share or narrower, such as 1%.",
    )


def time_limit_option() -> Any:
    """Return the option `--time-limit`: how long `--precision` may take."""
    return option(
        "--time-limit",
        metavar="SECONDS",
        type=click.FloatRange(1, 604800),
        help="Seconds after which --precision adds no more trials (default: 600).",
    )


def scap_profile_option(help_text: str = "", *, required: bool = False) -> Any:
    """Return the option that says which profile of a datastream is meant."""
    return option(
        "--scap-profile",
        metavar="ID",
        required=required,
        help=help_text or "PROFILE is a SCAP datastream: take this profile in it, such as stig.",
    )


def older_than_option(help_text: str) -> Any:
    """Return the option `--older-than` of a removal."""
    return option("--older-than", metavar="AGE", type=_age, help=help_text)


def removal_plan_option() -> Any:
    """Return the option that has a removal only shown."""
    return option("--dry-run", is_flag=True, help="Say what would be removed; remove nothing.")


def whole_bill_option() -> Any:
    """Return the option `--all` of verbs that print bills."""
    return option("--all", is_flag=True, help="Print a bill whole: every metric and every control.")


def _age(text: str) -> timedelta:
    """Return how long an age such as 30d, 12h or 2w is."""
    found = re.fullmatch(r"([0-9]{1,5})([hdw])", text)
    if found is None:
        raise click.BadParameter(f"{text!r} is no age such as 12h, 30d or 2w")
    units = {"h": "hours", "d": "days", "w": "weeks"}
    return timedelta(**{units[found[2]]: int(found[1])})


# Groups that several verbs have -------------------------------------------------------------------


@dataclass(frozen=True)
class StoreOptions:
    """The options of a verb that prints something of a store."""

    store: Path = store_option()
    format: str = format_option()


@dataclass(frozen=True)
class TlsOptions:
    """The options about TLS between the hosts of a cluster."""

    tls_ca: Path | None = tls_option("ca")
    tls_cert: Path | None = tls_option("cert")
    tls_key: Path | None = tls_option("key")
    insecure: bool = insecure_option()


@dataclass(frozen=True)
class GuestOptions:
    """The options of a verb that boots guests and measures nothing in them."""

    guest: str | None = guest_option()
    qemu: str | None = qemu_option()


@dataclass(frozen=True)
class SettingOptions:
    """The options that name settings to measure."""

    sysctl: tuple[str, ...] = option(
        "--sysctl",
        section=_SETTINGS,
        multiple=True,
        metavar="KEY=VALUE",
        help="A sysctl; may be repeated.",
    )
    boot: tuple[str, ...] = boot_option(
        "A word of the kernel's command line, such as mitigations=off; may be repeated."
    )
    lsm: Literal["none", "apparmor", "permissive", "enforcing"] | None = option(
        "--lsm", section=_SETTINGS, type=click.Choice(LSM_MODES), help="The security module."
    )


@dataclass(frozen=True)
class MeasuringOptions:
    """The options of a verb that measures."""

    workload: str | None = option(
        "--workload",
        section=_MEASURED,
        metavar="'NAME [KEY=VALUE …],…'",
        multiple=True,
        callback=_join_values,
        shell_complete=completion.workloads,
        help="What to run: a name from `hardcost list workloads`, with parameters such as"
        " 'syscalls calls=open+chmod'. Separate several with commas, or repeat the option"
        " (default: the study's; where a profile is measured, syscalls).",
    )
    machine: str = option(
        "--machine",
        section=_MEASURED,
        metavar="NAME",
        multiple=True,
        default=("vm",),
        callback=_join_values,
        shell_complete=completion.machines,
        help="Where to run it: in guests under QEMU (vm, the default), on this machine (host),"
        " or on another (ssh:USER@HOST). To measure on several with `hardcost run`, repeat the"
        " option; each gets a column.",
    )
    instrument: str | None = option(
        "--instrument",
        section=_MEASURED,
        type=click.Choice([name for name in INSTRUMENTS if name != PARALLEL.name]),
        help="What to measure: insn counts the instructions that a guest executes, exactly;"
        " time reads the clock (default: the study's, else insn in guests and time on real"
        " machines).",
    )
    seeds: int | None = option(
        "--seeds",
        section=_MEASURED,
        metavar="N",
        type=click.IntRange(1, 1000),
        help="Measure under N random memory layouts of the programs (default: one fixed layout).",
    )
    repetitions: int | None = option(
        "--repetitions",
        section=_MEASURED,
        metavar="N",
        type=click.IntRange(1, 1000),
        help="Measure each configuration N times. Instructions are counted each time with"
        " slightly different timing and memory layout (default: 5 times; once where the count"
        " never changes).",
    )
    start: Literal["snapshot", "cold"] | None = option(
        "--start",
        section=_TRIALS,
        type=click.Choice(["snapshot", "cold"]),
        help="How each trial starts: from a snapshot of a booted guest, or with a cold boot of the"
        " guest for it (default: the study's, else snapshot).",
    )
    dry_run: bool = option(
        "--dry-run",
        section=_TRIALS,
        is_flag=True,
        help="Print the plan and the expected time; measure nothing.",
    )
    resume: bool = option(
        "--resume",
        section=_TRIALS,
        is_flag=True,
        help="Continue the run that was interrupted or failed.",
    )
    fresh: bool = option(
        "--fresh",
        section=_TRIALS,
        is_flag=True,
        help="Measure everything again; reuse nothing of earlier runs.",
    )
    jobs: int = option(
        "--jobs",
        section=_TRIALS,
        metavar="N",
        type=click.IntRange(1, 256),
        default=len(os.sched_getaffinity(0)),
        help="How many guests run at a time (default: one for each core).",
    )
    scheduler: str = option(
        "--scheduler",
        section=_TRIALS,
        type=click.Choice(["processes", "serial"]),
        default="processes",
        show_default=True,
        help="Run guests side by side (processes), or one after another (serial).",
    )
    timeout: float | None = option(
        "--timeout",
        section=_TRIALS,
        metavar="SECONDS",
        type=click.FloatRange(1, 86400),
        help="Seconds after which a trial fails (default: the study's, else 120, in a Debian"
        " guest 1200).",
    )
    record: str | None = option(
        "--record",
        section=_TRIALS,
        metavar="NAME,…",
        shell_complete=completion.recorders,
        help="Record more during each trial: the processor's use by process (cpu), audit"
        " events and losses (audit), SELinux's cache (avc).",
    )
    yes: bool = option(
        "--yes",
        section=_TRIALS,
        is_flag=True,
        help="Change a real machine while users are logged in there, too. The machine host is"
        " changed only with this option, and only by root.",
    )
    guest: str | None = guest_option(_GUESTS)
    kernel: Path | None = option(
        "--kernel",
        section=_GUESTS,
        type=NamedPath(),
        shell_complete=completion.kernels,
        help="A bzImage, a vmlinux, a kernel's .deb or .rpm, a folder that holds one,"
        " debian:VERSION such as debian:6.12, or 'host', the kernel that runs here (default:"
        " Debian's kernel).",
    )
    source: Path | None = option(
        "--source",
        section=_GUESTS,
        type=NamedPath(),
        help="The Linux source from which kernels with options are built: a folder, or"
        " debian:VERSION such as debian:7.3 (default: Debian 12's package"
        " linux-source-6.1).",
    )
    image: Path | None = option(
        "--image",
        section=_GUESTS,
        type=NamedPath(),
        help="Your own disk for guests that run services: raw or qcow2, with Linux on ext4."
        " Its newest kernel is booted unless --kernel names one.",
    )
    rootfs: Path | None = option(
        "--rootfs",
        section=_GUESTS,
        type=NamedPath(),
        help="Your own system for such guests, as a folder that holds all of its files.",
    )
    qemu: str | None = qemu_option(_GUESTS)
    cpu: str = option(
        "--cpu",
        section=_GUESTS,
        metavar="MODEL",
        default="max",
        show_default=True,
        help="QEMU's processor model.",
    )
    processors: int = option(
        "--processors",
        section=_GUESTS,
        metavar="N",
        type=click.IntRange(1, MOST_PROCESSORS),
        default=1,
        show_default=True,
        help="Measure on so many processors at once, for workloads that run whole programs."
        " The numbers are parallel instructions: how long the processors take together, locks"
        " and queues included.",
    )
    init: Literal["probe", "systemd"] | None = option(
        "--init",
        section=_GUESTS,
        type=click.Choice(["probe", "systemd"]),
        help="What starts a Debian guest's services: probe, hardcost's own program in the"
        " guest, starts those that a trial needs; systemd starts all (default: the study's,"
        " else probe).",
    )
    allow_unconfined_build: bool = unconfined_option(_GUESTS)
    format: str = format_option(section=_RESULTS)
    raw: bool = raw_option(_RESULTS)
    report: Path | None = option(
        "--report",
        section=_RESULTS,
        type=NamedPath(dir_okay=False),
        help="Where to write the HTML report (default: reports/RUN.html beside the store).",
    )
    store: Path = store_option(_RESULTS)
    progress: Literal["auto", "plain", "json", "none"] = option(
        "--progress",
        section=_RESULTS,
        type=click.Choice(["auto", "plain", "json", "none"]),
        default="auto",
        show_default=True,
        help="How progress is shown on stderr: auto draws bars on a terminal and prints lines"
        " elsewhere; plain prints lines; json prints a JSON object for each event; none prints"
        " errors only.",
    )
    workers: str | None = option(
        "--workers",
        section=CLUSTER,
        metavar="ADDRESS",
        help="Run guests and build kernels on the workers of this Dask scheduler"
        " (tls://host:8786), which `hardcost cluster` or `hardcost worker` starts.",
    )
    tls_ca: Path | None = tls_option("ca", CLUSTER)
    tls_cert: Path | None = tls_option("cert", CLUSTER)
    tls_key: Path | None = tls_option("key", CLUSTER)
    insecure: bool = insecure_option(CLUSTER)


def measures(formats: Sequence[str] = RESULT_FORMATS) -> Decorator:
    """Return a decorator that adds a measuring verb's options, as its argument `shared`."""
    raw = {} if "csv" in formats else {"raw": ()}
    return takes("shared", MeasuringOptions, format=formats, **raw)

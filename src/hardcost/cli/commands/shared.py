"""Arguments and options that several verbs share; nothing here imports a verb's code."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hardcost.cli.commands import completion
from hardcost.instruments.names import INSTRUMENTS, RECORDERS
from hardcost.run.limits import USUAL_LIMITS
from hardcost.store.storeplace import default_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    _Option = Callable[[Callable[..., Any]], Callable[..., Any]]


STARTS = ("snapshot", "fresh")
"""How trials may start; no kernel parameter has these names."""

LSM_MODES = ("none", "apparmor", "permissive", "enforcing")
"""What `--lsm` takes: `controls.control.LsmMode`."""


FORMATS = ("text", "json")
"""The formats of a result, where a verb has no others."""

RESULT_FORMATS = (*FORMATS, "csv", "parquet", "markdown", "benchstat")
"""The formats of a run's or bill's result."""

PROFILE_FORMATS = (*FORMATS, "folded", "folded-diff", "speedscope", "pprof", "callgrind")
"""The formats of a profile."""

TRACE_FORMATS = (*FORMATS, "perfetto")
"""The formats of a trace."""


def measuring(
    command: Callable[..., Any], formats: Sequence[str] = RESULT_FORMATS
) -> Callable[..., Any]:
    """Add the options of a verb that measures."""
    boot = click.option(
        "--boot",
        type=click.Choice(list(STARTS)),
        help="Restore each trial from a snapshot, or cold-boot it (default: the study's).",
    )
    return _measuring(command, boot, formats)


def measuring_settings(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a verb that measures, and those that name settings to measure.

    `words["boot"]` is a tuple there; `options.started` takes the words of `STARTS` out of it.
    """
    return _settings(command, RESULT_FORMATS)


def settings_for(command: Callable[..., Any], formats: Sequence[str]) -> Callable[..., Any]:
    """Add the same options, with other formats of the result."""
    return _settings(command, formats)


output_file = click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the result to this file (default: standard output).",
)
"""The file that a profile or a trace goes to."""

raw = click.option(
    "--raw",
    is_flag=True,
    help="Leave out the apostrophe that CSV puts before texts that a spreadsheet would take for a"
    " formula.",
)
"""Whether a program reads the CSV, and no spreadsheet."""

precision = click.option(
    "--precision",
    metavar="SHARE",
    help="Under time, add trials until each ratio's interval is +/- this share, such as 1%.",
)
"""How precise times have to be."""

time_limit = click.option(
    "--time-limit",
    type=click.FloatRange(1, 604800),
    help="Seconds after which --precision adds no more trials (default: 600).",
)
"""How long that may take."""

scap_profile = click.option(
    "--scap-profile",
    metavar="ID",
    help="Take what this profile requires; PROFILE is then a SCAP datastream.",
)
"""Which profile of a datastream is profiled or traced."""


def profiling_settings(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the same options, with the formats that profiles come in."""
    return _settings(command, PROFILE_FORMATS)


def tracing_settings(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the same options, with the formats that traces come in."""
    return _settings(command, TRACE_FORMATS)


def _settings(command: Callable[..., Any], formats: Sequence[str]) -> Callable[..., Any]:
    for option in (
        click.option("--lsm", type=click.Choice(LSM_MODES), help="The security module."),
        click.option("--sysctl", multiple=True, metavar="K=V", help="A sysctl; may be repeated."),
    ):
        command = option(command)
    return _measuring(
        command,
        click.option(
            "--boot",
            multiple=True,
            metavar="WORD",
            help="A word of the kernel's command line; may be repeated. 'fresh' and 'snapshot' say"
            " how trials start, as in `hardcost run`.",
        ),
        formats,
    )


def _measuring(
    command: Callable[..., Any], boot: _Option, formats: Sequence[str]
) -> Callable[..., Any]:
    for option in reversed((*_what(), *_guests(), *_carried_out(boot), *_kept(formats))):
        command = option(command)
    return command


def _what() -> tuple[_Option, ...]:
    """Return the options that say what is measured, and where."""
    return (
        click.option(
            "--machine",
            metavar="NAME",
            multiple=True,
            default=("vm",),
            show_default="vm",
            callback=_joined,
            shell_complete=completion.machines,
            help="Where trials run: one of `hardcost list machines`. `hardcost run` measures on"
            " several, each in a column of its own, where the option is repeated.",
        ),
        click.option(
            "--instrument",
            type=click.Choice(list(INSTRUMENTS)),
            help="What to measure: insn counts instructions exactly; time reads the clock.",
        ),
        click.option(
            "--workload",
            metavar="'NAME [KEY=VALUE …],…'",
            multiple=True,
            callback=_joined,
            shell_complete=completion.workloads,
            help="What to run, such as syscalls or 'syscalls calls=null+open'. Separate"
            " workloads with commas, or repeat the option.",
        ),
        click.option(
            "--seeds",
            type=click.IntRange(1, 1000),
            help="Measure N random layouts of programs' memory (default: one fixed layout).",
        ),
        click.option(
            "--repetitions",
            type=click.IntRange(1, 1000),
            help="Trials of each configuration: for insn each under another perturbation, which"
            " means nothing (default: 5 of what moves and 1 of the rest; for time 5 of all).",
        ),
    )


def _joined(_context: click.Context, _option: click.Parameter, each: tuple[str, ...]) -> str | None:
    """Return the values of an option that was repeated as one."""
    return ",".join(each) if each else None


def _guests() -> tuple[_Option, ...]:
    """Return the options that say what guests are made of."""
    return (
        click.option(
            "--kernel",
            type=click.Path(path_type=Path),
            shell_complete=completion.kernels,
            help="A bzImage, a vmlinux, a kernel's .deb or .rpm, a folder that holds one,"
            " debian:VERSION such as debian:6.12, or 'host' (default: Debian's kernel).",
        ),
        click.option(
            "--source",
            type=click.Path(path_type=Path),
            help="The Linux source from which kernels with options are built: a folder, or"
            " debian:VERSION such as debian:7.3 (default: Debian 12's package"
            " linux-source-6.1).",
        ),
        click.option(
            "--image",
            type=click.Path(path_type=Path),
            help="Your own root for guests with services: a raw or qcow2 disk with Linux on"
            " ext4. Its newest kernel is booted unless --kernel names one.",
        ),
        click.option(
            "--rootfs",
            type=click.Path(path_type=Path),
            help="Your own root as a folder that holds a whole system.",
        ),
        click.option("--cpu", default="max", show_default=True, help="QEMU's processor model."),
    )


def _carried_out(boot: _Option) -> tuple[_Option, ...]:
    """Return the options that say how trials are carried out."""
    cores = len(os.sched_getaffinity(0))
    return (
        click.option(
            "--scheduler",
            type=click.Choice(["processes", "serial"]),
            default="processes",
            show_default=True,
            help="Run guests side by side, or one after another.",
        ),
        click.option(
            "--jobs",
            type=click.IntRange(1, 256),
            default=cores,
            show_default="one for each core",
            help="How many guests run at a time.",
        ),
        click.option(
            "--workers",
            metavar="ADDRESS",
            help="Run the trials, and build the kernels, on the workers of this Dask scheduler"
            " (tls://host:8786), which `hardcost worker` starts.",
        ),
        *tls_options(),
        click.option(
            "--timeout",
            type=click.FloatRange(1, 86400),
            help="Seconds after which a trial fails (default: the study's,"
            f" else {USUAL_LIMITS['small']:.0f}, in a Debian guest"
            f" {USUAL_LIMITS['debian']:.0f}).",
        ),
        boot,
        click.option(
            "--init",
            type=click.Choice(["probe", "systemd"]),
            help="What starts a Debian guest's services: the probe starts those that a trial"
            " needs, systemd starts all (default: the study's).",
        ),
        click.option(
            "--record",
            metavar="NAME,…",
            shell_complete=completion.recorders,
            help=f"Recorders to run beside the instrument: {', '.join(RECORDERS)}.",
        ),
        unconfined_option(),
        click.option(
            "--yes",
            is_flag=True,
            help="Change a machine that is there already (host, ssh) also while users are logged in"
            " there; the machine host is changed only so, by root.",
        ),
    )


def _kept(formats: Sequence[str]) -> tuple[_Option, ...]:
    """Return the options that say what is kept, and what is shown."""
    return (
        click.option("--fresh", is_flag=True, help="Measure again what the store already has."),
        click.option(
            "--resume", is_flag=True, help="Continue the run that was interrupted or failed."
        ),
        click.option(
            "--dry-run",
            is_flag=True,
            help="Print the plan and the expected time; measure nothing.",
        ),
        click.option(
            "--progress",
            type=click.Choice(["auto", "plain", "json", "none"]),
            default="auto",
            show_default=True,
            help="How progress is shown on stderr: on a terminal as bars, else as lines; json"
            " prints each event as a JSON object on a line; none prints errors alone.",
        ),
        click.option(
            "--report",
            type=click.Path(path_type=Path, dir_okay=False),
            help="The HTML report's file (default: beside the store).",
        ),
        store_option(),
        format_option(formats),
        *([raw] if "csv" in formats else []),
    )


def tls_options() -> tuple[_Option, ...]:
    """Return the options about TLS between the hosts of a lab."""
    said = {
        "ca": "The certificate authority of a lab with TLS (default: as Dask's configuration"
        " says, as are the next two; else what `hardcost cluster` made on this host).",
        "cert": "This host's certificate.",
        "key": "The key of this host's certificate.",
    }
    path = click.Path(path_type=Path, exists=True, dir_okay=False)
    files = (click.option(f"--tls-{name}", type=path, help=what) for name, what in said.items())
    insecure = click.option(
        "--insecure",
        is_flag=True,
        help="Allow tcp:// not only on 127.0.0.1. Without TLS whoever reaches it (there: every user"
        " of this machine) can run programs as you.",
    )
    return (*files, insecure)


def store_option() -> _Option:
    """Return the option `--store`."""
    return click.option(
        "--store",
        type=click.Path(path_type=Path, dir_okay=False),
        default=default_path,
        show_default=False,
        help="The SQLite file with runs and trials (default: $HARDCOST_STORE, else"
        " ~/.local/share/hardcost/hardcost.sqlite).",
    )


def unconfined_option() -> _Option:
    """Return the option `--allow-unconfined-build`."""
    return click.option(
        "--allow-unconfined-build",
        is_flag=True,
        help="Let your patches and sources run code on this machine where kernels can't be built in"
        " a sandbox.",
    )


def format_option(formats: Sequence[str] = FORMATS) -> _Option:
    """Return the option `--format`; the first of the formats is the usual one."""
    return click.option(
        "--format",
        type=click.Choice(list(formats)),
        default=formats[0],
        show_default=True,
        help="The format of the result.",
    )

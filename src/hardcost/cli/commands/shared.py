"""Arguments and options that several verbs share; nothing here imports a verb's code."""

from __future__ import annotations

import os
import re
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hardcost.cli.commands import completion
from hardcost.cli.verb import CLUSTER, Shared, Verb
from hardcost.instruments.names import INSTRUMENTS
from hardcost.run.limits import USUAL_LIMITS
from hardcost.store.storeplace import default_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    _Option = Callable[[Callable[..., Any]], Callable[..., Any]]
    _Maker = Callable[..., _Option]


_SETTINGS = "Settings to add to PROFILE"
_MEASURED = "What is measured, and where"
_GUESTS = "What guests are made of"
_TRIALS = "How trials run"
_RESULTS = "Results and progress"

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


_RULE = re.compile(r"\s*-[A-Za-z]\s+\S")
_RULE_OPTIONS = ("-a", "-A", "-w", "-S", "-F", "-k", "-p")


def is_rule(text: str) -> bool:
    """Say whether an argument is a line of audit rules: `-w /etc/passwd -p wa`."""
    return _RULE.match(text) is not None


class RuleTaker(Verb):
    """A command whose arguments may be audit rules in quotes, wherever they stand.

    To click, what begins with a dash is an option, and a rule does; one with a space before it is
    not. No option of ours has a space in it.
    """

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Take the words of the command line.

        Raises:
            UsageError: They are not as they should be.
        """
        try:
            return super().parse_args(ctx, [f" {one}" if is_rule(one) else one for one in args])
        except click.NoSuchOption as error:
            if error.option_name not in _RULE_OPTIONS:
                raise
            message = f"{error.message} A rule is one argument: put all of it in quotes."
            raise click.UsageError(message, ctx) from error


def measuring(
    command: Callable[..., Any], formats: Sequence[str] = RESULT_FORMATS
) -> Callable[..., Any]:
    """Add the options of a verb that measures."""
    boot = click.option(
        "--boot",
        type=click.Choice(list(STARTS)),
        cls=Shared,
        section=_TRIALS,
        help="Start each trial from a snapshot of a booted guest, or boot the guest for it"
        " (default: the study's, else snapshot).",
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
    cls=Shared,
    section=_RESULTS,
    is_flag=True,
    help="Write CSV for programs: without the apostrophe that keeps a spreadsheet from taking a"
    " text for a formula.",
)
"""Whether a program reads the CSV, and no spreadsheet."""

sarif_file_option = click.option(
    "--sarif-file",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Also write the result as SARIF to this file, whatever --format is.",
)
"""A file for a code host, beside what is printed."""


def fail_on_option(text: str) -> Callable[..., Any]:
    """Return the option that says from which level on the exit status is 1."""
    levels = click.Choice(["error", "warning"])
    return click.option("--fail-on", type=levels, default="error", show_default=True, help=text)


precision = click.option(
    "--precision",
    metavar="SHARE",
    help="With --instrument time: add trials until the confidence interval of each ratio is"
    " +/- this share or narrower, such as 1%.",
)
"""How precise times have to be."""

time_limit = click.option(
    "--time-limit",
    metavar="SECONDS",
    type=click.FloatRange(1, 604800),
    help="Seconds after which --precision adds no more trials (default: 600).",
)
"""How long that may take."""

scap_profile = click.option(
    "--scap-profile",
    metavar="ID",
    help="PROFILE is a SCAP datastream: take this profile in it, such as stig.",
)
"""Which profile of a datastream is profiled or traced."""


def profiling_settings(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the same options, with the formats that profiles come in."""
    return _settings(command, PROFILE_FORMATS)


def tracing_settings(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the same options, with the formats that traces come in."""
    return _settings(command, TRACE_FORMATS)


def _settings(command: Callable[..., Any], formats: Sequence[str]) -> Callable[..., Any]:
    option = partial(click.option, cls=Shared, section=_SETTINGS)
    added = (
        option("--sysctl", multiple=True, metavar="KEY=VALUE", help="A sysctl; may be repeated."),
        option(
            "--boot",
            multiple=True,
            metavar="WORD",
            help="A word of the kernel's command line, such as mitigations=off; may be repeated."
            " Two words say how trials start instead: 'snapshot' restores each from a snapshot,"
            " 'fresh' boots the guest for each.",
        ),
        option("--lsm", type=click.Choice(LSM_MODES), help="The security module."),
    )
    return _with((*added, *_measured()), command, formats)


def _measuring(
    command: Callable[..., Any], boot: _Option, formats: Sequence[str]
) -> Callable[..., Any]:
    return _with((*_measured(), boot), command, formats)


def _with(
    first: Sequence[_Option], command: Callable[..., Any], formats: Sequence[str]
) -> Callable[..., Any]:
    """Add options to a verb, `first` before those that all verbs share that measure."""
    for option in reversed((*first, *_trials(), *_guests(), *_results(formats), *_cluster())):
        command = option(command)
    return command


def _measured() -> tuple[_Option, ...]:
    """Return the options that say what is measured, and where."""
    option = partial(click.option, cls=Shared, section=_MEASURED)
    return (
        option(
            "--workload",
            metavar="'NAME [KEY=VALUE …],…'",
            multiple=True,
            callback=_joined,
            shell_complete=completion.workloads,
            help="What to run: a name from `hardcost list workloads`, with parameters such as"
            " 'syscalls calls=open+chmod'. Separate several with commas, or repeat the option"
            " (default: the study's; where a profile is measured, syscalls).",
        ),
        option(
            "--machine",
            metavar="NAME",
            multiple=True,
            default=("vm",),
            callback=_joined,
            shell_complete=completion.machines,
            help="Where to run it: in guests under QEMU (vm, the default), on this machine (host),"
            " or on another (ssh:USER@HOST). To measure on several with `hardcost run`, repeat the"
            " option; each gets a column.",
        ),
        option(
            "--instrument",
            type=click.Choice(list(INSTRUMENTS)),
            help="What to measure: insn counts the instructions that a guest executes, exactly;"
            " time reads the clock (default: the study's, else insn in guests and time on real"
            " machines).",
        ),
        option(
            "--seeds",
            metavar="N",
            type=click.IntRange(1, 1000),
            help="Measure under N random memory layouts of the programs (default: one fixed"
            " layout).",
        ),
        option(
            "--repetitions",
            metavar="N",
            type=click.IntRange(1, 1000),
            help="Measure each configuration N times. Instructions are counted each time with"
            " slightly different timing and memory layout (default: 5 times; once where the count"
            " never changes).",
        ),
    )


def _age(text: str) -> timedelta:
    """Return how long an age such as 30d, 12h or 2w is.

    Raises:
        BadParameter: It is none.
    """
    found = re.fullmatch(r"([0-9]{1,5})([hdw])", text)
    if found is None:
        raise click.BadParameter(f"{text!r} is no age such as 12h, 30d or 2w")
    units = {"h": "hours", "d": "days", "w": "weeks"}
    return timedelta(**{units[found[2]]: int(found[1])})


def older_than(what: str) -> _Option:
    """Return the option `--older-than` of a removal."""
    return click.option("--older-than", metavar="AGE", type=_age, help=what)


removal_plan = click.option(
    "--dry-run", is_flag=True, help="Say what would be removed; remove nothing."
)
"""Whether a removal is only shown."""


def _joined(_context: click.Context, _option: click.Parameter, each: tuple[str, ...]) -> str | None:
    """Return the values of an option that was repeated as one."""
    return ",".join(each) if each else None


def _guests() -> tuple[_Option, ...]:
    """Return the options that say what guests are made of."""
    option = partial(click.option, cls=Shared, section=_GUESTS)
    return (
        option(
            "--kernel",
            type=click.Path(path_type=Path),
            shell_complete=completion.kernels,
            help="A bzImage, a vmlinux, a kernel's .deb or .rpm, a folder that holds one,"
            " debian:VERSION such as debian:6.12, or 'host', the kernel that runs here (default:"
            " Debian's kernel).",
        ),
        option(
            "--source",
            type=click.Path(path_type=Path),
            help="The Linux source from which kernels with options are built: a folder, or"
            " debian:VERSION such as debian:7.3 (default: Debian 12's package"
            " linux-source-6.1).",
        ),
        option(
            "--image",
            type=click.Path(path_type=Path),
            help="Your own disk for guests that run services: raw or qcow2, with Linux on ext4."
            " Its newest kernel is booted unless --kernel names one.",
        ),
        option(
            "--rootfs",
            type=click.Path(path_type=Path),
            help="Your own system for such guests, as a folder that holds all of its files.",
        ),
        option(
            "--cpu",
            metavar="MODEL",
            default="max",
            show_default=True,
            help="QEMU's processor model.",
        ),
        option(
            "--init",
            type=click.Choice(["probe", "systemd"]),
            help="What starts a Debian guest's services: probe, hardcost's own program in the"
            " guest, starts those that a trial needs; systemd starts all (default: the study's,"
            " else probe).",
        ),
        unconfined_option(option),
    )


def _trials() -> tuple[_Option, ...]:
    """Return the options that say how trials run."""
    option = partial(click.option, cls=Shared, section=_TRIALS)
    cores = len(os.sched_getaffinity(0))
    return (
        option(
            "--dry-run",
            is_flag=True,
            help="Print the plan and the expected time; measure nothing.",
        ),
        option("--resume", is_flag=True, help="Continue the run that was interrupted or failed."),
        option(
            "--fresh",
            is_flag=True,
            help="Measure everything again; reuse nothing of earlier runs.",
        ),
        option(
            "--jobs",
            metavar="N",
            type=click.IntRange(1, 256),
            default=cores,
            help="How many guests run at a time (default: one for each core).",
        ),
        option(
            "--scheduler",
            type=click.Choice(["processes", "serial"]),
            default="processes",
            show_default=True,
            help="Run guests side by side (processes), or one after another (serial).",
        ),
        option(
            "--timeout",
            metavar="SECONDS",
            type=click.FloatRange(1, 86400),
            help="Seconds after which a trial fails (default: the study's,"
            f" else {USUAL_LIMITS['small']:.0f}, in a Debian guest"
            f" {USUAL_LIMITS['debian']:.0f}).",
        ),
        option(
            "--record",
            metavar="NAME,…",
            shell_complete=completion.recorders,
            help="Record more during each trial: the processor's use by process (cpu), audit"
            " events and losses (audit), SELinux's cache (avc).",
        ),
        option(
            "--yes",
            is_flag=True,
            help="Change a real machine while users are logged in there, too. The machine host is"
            " changed only with this option, and only by root.",
        ),
    )


def _results(formats: Sequence[str]) -> tuple[_Option, ...]:
    """Return the options that say what is kept, and what is shown."""
    option = partial(click.option, cls=Shared, section=_RESULTS)
    return (
        format_option(formats, option),
        *([raw] if "csv" in formats else []),
        option(
            "--report",
            type=click.Path(path_type=Path, dir_okay=False),
            help="Where to write the HTML report (default: reports/RUN.html beside the store).",
        ),
        store_option(option),
        option(
            "--progress",
            type=click.Choice(["auto", "plain", "json", "none"]),
            default="auto",
            show_default=True,
            help="How progress is shown on stderr: auto draws bars on a terminal and prints lines"
            " elsewhere; plain prints lines; json prints a JSON object for each event; none prints"
            " errors only.",
        ),
    )


def histogram(help_text: str) -> _Option:
    """Return the option that names a file with how often each call is made."""
    return click.option(
        "--histogram",
        "histogram_file",
        type=click.Path(path_type=Path, exists=True, dir_okay=False),
        help=help_text,
    )


whole_bill = click.option(
    "--all", is_flag=True, help="Print a bill whole: every metric and every control."
)


def _cluster() -> tuple[_Option, ...]:
    """Return the options that say on which other hosts guests run."""
    option = partial(click.option, cls=Shared, section=CLUSTER)
    return (
        option(
            "--workers",
            metavar="ADDRESS",
            help="Run guests and build kernels on the workers of this Dask scheduler"
            " (tls://host:8786), which `hardcost cluster` or `hardcost worker` starts.",
        ),
        *tls_options(option),
    )


def tls_options(option: _Maker = click.option) -> tuple[_Option, ...]:
    """Return the options about TLS between the hosts of a cluster."""
    said = {
        "ca": "The certificate authority that signed the hosts' certificates (default for all"
        " three: Dask's configuration, else what `hardcost cluster` made on this host).",
        "cert": "This host's certificate.",
        "key": "The private key of this host's certificate.",
    }
    path = click.Path(path_type=Path, exists=True, dir_okay=False)
    files = (option(f"--tls-{name}", type=path, help=what) for name, what in said.items())
    insecure = option(
        "--insecure",
        is_flag=True,
        help="Allow connections without TLS (tcp://) to other addresses than 127.0.0.1. Whoever"
        " reaches the port can then run programs as you.",
    )
    return (*files, insecure)


def store_option(option: _Maker = click.option) -> _Option:
    """Return the option `--store`."""
    return option(
        "--store",
        type=click.Path(path_type=Path, dir_okay=False),
        default=default_path,
        show_default=False,
        help="The SQLite file that keeps all runs (default: $HARDCOST_STORE, else"
        " ~/.local/share/hardcost/hardcost.sqlite).",
    )


def unconfined_option(option: _Maker = click.option) -> _Option:
    """Return the option `--allow-unconfined-build`."""
    return option(
        "--allow-unconfined-build",
        is_flag=True,
        help="Build kernels although this machine can't sandbox the build: your patches and"
        " sources then run code here, as you.",
    )


def format_option(formats: Sequence[str] = FORMATS, option: _Maker = click.option) -> _Option:
    """Return the option `--format`; the first of the formats is the usual one."""
    return option(
        "--format",
        type=click.Choice(list(formats)),
        default=formats[0],
        show_default=True,
        help="The format of the result.",
    )

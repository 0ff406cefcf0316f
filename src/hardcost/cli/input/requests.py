"""The options of verbs turned into values of a request to the library."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from auditrules.cli.options import FORMATS
from auditrules.library.files import check_put
from hardcost.cli import process
from hardcost.cli.console import console, data
from hardcost.cli.input.options import GATE_FORMATS, MeasuringOptions, SettingOptions
from hardcost.errors import InputError
from hardcost.instruments.insn import INSN
from hardcost.instruments.parallel import PARALLEL
from hardcost.library.measurement import Measuring, recorders, workloads_of
from hardcost.machines.options import MachineOptions
from hardcost.measure.workers.lab import Lab, lab_at
from hardcost.profiles.settings import Settings
from hardcost.show.exports import csv


def measuring(
    shared: MeasuringOptions, usual: str | None = None, *, emulated_time: bool = True
) -> Measuring:
    """Return how to measure.

    `usual` is the instrument where none is chosen; None: not known yet. Without `emulated_time`,
    times of an emulator are refused.

    Raises:
        InputError: A workload, a recorder, a format or an address of workers is wrong.
        MachineError: A library that a format needs is not installed.
    """
    console.choose_form(shared.progress)
    form = form_of(shared.format, raw=bool(shared.raw))
    if form not in FORMATS:
        data.check(form)
    asked, chosen = shared.workload, _instrument(shared)
    return Measuring(
        machine=shared.machine,
        instrument=chosen,
        workloads=None if asked is None else workloads_of(asked, chosen or usual),
        seeds=None if shared.seeds is None else tuple(range(1, shared.seeds + 1)),
        repetitions=shared.repetitions,
        wanted=MachineOptions(
            guest=shared.guest,
            kernel=shared.kernel,
            source=shared.source,
            image=shared.image,
            rootfs=shared.rootfs,
            qemu=shared.qemu,
            cpu=shared.cpu,
            processors=shared.processors,
            emulated_time=emulated_time,
            unconfined=shared.allow_unconfined_build,
            yes=shared.yes,
        ),
        jobs=1 if shared.scheduler == "serial" else shared.jobs,
        fresh=shared.fresh,
        resume=shared.resume,
        timeout=shared.timeout,
        start=shared.start,
        init=shared.init,
        record=None if shared.record is None else recorders(shared.record),
        store=shared.store,
        lab=lab(
            shared.workers,
            shared.tls_ca,
            shared.tls_cert,
            shared.tls_key,
            insecure=shared.insecure,
        ),
        command=process.words(),
        folder=process.folder(),
    )


def _instrument(shared: MeasuringOptions) -> str | None:
    """Return the instrument that is chosen, None where none is.

    Raises:
        InputError: Several processors are to be measured by one that does not count.
    """
    if shared.processors == 1:
        return shared.instrument
    if shared.instrument not in {None, INSN.name}:
        raise InputError(
            f"--processors counts instructions, and --instrument {shared.instrument} does not",
            hint="leave one of them out",
        )
    return PARALLEL.name


def settings(options: SettingOptions) -> Settings:
    """Return the settings that the options name."""
    return Settings(options.sysctl, options.boot, options.lsm)


def check_named(names: Sequence[str], added: Settings) -> None:
    """Check that there is a profile, or settings that make one.

    Raises:
        UsageError: There is neither.
    """
    if not names and not added:
        raise click.UsageError("Missing argument 'PROFILE', or --sysctl, --boot or --lsm.")


def form_of(format: str, *, raw: bool) -> str:  # noqa: A002  (the option's name)
    """Return the form of a result in a format, with `--raw` or without.

    Raises:
        InputError: The format is not CSV, and `--raw` is for nothing else.
    """
    if raw and format != csv.CSV:
        raise InputError("--raw is for CSV alone", hint="add --format csv, or leave --raw out")
    return csv.RAW if raw else format


def lab(
    workers: str | None,
    authority: Path | None,
    certificate: Path | None,
    key: Path | None,
    *,
    insecure: bool,
) -> Lab | None:
    """Return where workers are; None where none were asked for.

    Raises:
        InputError: The address or the certificates are not as they should be.
    """
    certificates = (authority, certificate, key)
    if workers is not None:
        return warn_of_risk(lab_at(workers, *certificates, insecure=insecure))
    if insecure:
        raise InputError("--insecure is for --workers, which is missing")
    if any(certificates):
        raise InputError("--tls-ca, --tls-cert and --tls-key are for --workers, which is missing")
    return None


def warn_of_risk(lab: Lab) -> Lab:
    """Say who can get into a lab, if it has no TLS; return it."""
    if lab.risk is not None:
        console.note(lab.risk)
    return lab


def check_decision(out: Path) -> None:
    """Check the name of a decision's file before anything is measured.

    Raises:
        InputError: It would not be read back.
    """
    if out.suffix != ".toml":
        raise InputError(f"-o {out}: a decision's name ends in .toml", hint="such as decision.toml")
    check_put(out, "-o")


def gate_states(named: Sequence[str], git: str | None) -> tuple[str, str | None]:
    """Return BASE and HEAD; or a file or folder, with `--git`.

    Raises:
        InputError: There are too many or too few.
    """
    if git is not None:
        if len(named) != 1:
            raise InputError(
                "--git compares one file or folder", hint="such as --git main..HEAD rules.d"
            )
        return named[0], None
    if len(named) != 2:  # noqa: PLR2004  (BASE and HEAD)
        raise InputError(
            f"gate compares two states, and {len(named)} are named",
            hint="name BASE and HEAD, or take --git A..B and one file or folder",
        )
    return named[0], named[1]


def two_files(a: str, b: str) -> tuple[Path, Path] | None:
    """Return two files to compare; None where neither is a file, so that both name runs.

    Raises:
        InputError: One is a file, and the other is not.
    """
    is_file, is_other_file = _is_file(a), _is_file(b)
    if is_file != is_other_file:
        file, other = (a, b) if is_file else (b, a)
        raise InputError(
            f"'{file}' is a file, and '{other}' is not",
            hint="name two runs, or two files that `hardcost here --format json` printed",
        )
    return (Path(a), Path(b)) if is_file else None


def _is_file(name: str) -> bool:
    """Say whether there is such a file; a pipe is one, of which reading says that it can't be."""
    with contextlib.suppress(OSError, ValueError):  # no name that a file can have
        return Path(name).exists() and not Path(name).is_dir()
    return False


@dataclass(frozen=True)
class OutputFile:
    """A file to write, its format, and the option that names it."""

    form: str
    path: Path
    option: str


def gate_files(written: Sequence[str], sarif_file: Path | None) -> tuple[OutputFile, ...]:
    """Return the files that `--write FORMAT=FILE` and `--sarif-file` name.

    Raises:
        InputError: There is no such format, or no file; or a file can't be written.
    """
    found = [OutputFile(*_format_and_file(one), "--write") for one in written]
    if sarif_file is not None:
        found.append(OutputFile("sarif", sarif_file, "--sarif-file"))
    for one in found:
        check_put(one.path, one.option)
    return tuple(found)


def _format_and_file(text: str) -> tuple[str, Path]:
    """Return the format and the file that `FORMAT=FILE` names."""
    form, _, name = text.partition("=")
    if form not in GATE_FORMATS or not name:
        raise InputError(
            f"--write: '{text}' is not FORMAT=FILE",
            hint=f"the formats are {', '.join(GATE_FORMATS)}",
        )
    return form, Path(name)

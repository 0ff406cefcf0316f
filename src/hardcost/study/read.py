"""Reading study files: a ready-made one by name, or the user's own; all errors at once."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from auditrules.library import files
from hardcost.controls.configuration import Configuration, Setup
from hardcost.errors import InputError, Problem
from hardcost.instruments.names import INSTRUMENTS, RECORDERS
from hardcost.model.role import PLACEBO
from hardcost.model.workload import Workload
from hardcost.profiles import catalogue
from hardcost.profiles.control_tables import PackageRoot, Resolver
from hardcost.study.configurations import configuration_meant, configurations
from hardcost.study.model import Study, StudyFile
from hardcost.toml.read import LARGEST, TomlFile, meant, names_in, parse, titles_in, validated
from hardcost.workloads.names import check_workload

_FOLDER = Path(str(resources.files("hardcost.study"))) / "ready"


def study_names() -> tuple[str, ...]:
    """Return the names of the ready-made studies, sorted."""
    return names_in(_FOLDER)


def study_titles() -> dict[str, str]:
    """Return the title of each ready-made study by its name."""
    return titles_in(_FOLDER)


def read(
    name_or_path: str,
    package_root: PackageRoot | None = None,
    scale: str | None = None,
    instrument: str | None = None,
) -> Study:
    """Return a study: a ready-made one's name, or the path of a file.

    `package_root` gives the folder in which a Debian package lies unpacked, for rules that come
    with one. `scale` names one of the study's other sizes. `instrument` is what its workloads are
    measured by instead of its own.

    Raises:
        InputError: There is no such study, or it is invalid; all mistakes are reported, each with
            its location.
    """
    file, path = _file(name_or_path)
    return _Reader(file, path, package_root).study(scale, instrument)


def instrument_of(name_or_path: str) -> str | None:
    """Return the instrument of a study that may be wrong otherwise; None if it names none there is.

    Raises:
        InputError: There is no such study, or the file is not TOML.
    """
    name = _file(name_or_path)[0].data.get(
        "instrument", StudyFile.model_fields["instrument"].default
    )
    return name if isinstance(name, str) and name in INSTRUMENTS else None


def scale_of_processors(name_or_path: str, processors: int) -> str | None:
    """Return the size that a study has for so many processors; None if it has none.

    Raises:
        InputError: There is no such study, or the file is not TOML.
    """
    name = f"processors-{processors}"
    sizes = _file(name_or_path)[0].data.get("scale")
    return name if isinstance(sizes, dict) and name in sizes else None


def _file(name_or_path: str) -> tuple[TomlFile, Path]:
    """Return a study's file and where it lies."""
    ready = name_or_path in study_names()
    path = _FOLDER / f"{name_or_path}.toml" if ready else Path(name_or_path)
    try:
        is_there = bool(name_or_path) and path.exists()
    except (OSError, ValueError) as error:
        raise InputError(f"'{name_or_path}' can't be read: {error}") from None
    if not is_there and catalogue.is_there(name_or_path):
        raise InputError(
            f"{name_or_path} is a profile, not a study",
            hint=f"`hardcost bill {shlex.quote(name_or_path)}` measures it",
        )
    if not is_there:
        raise InputError(
            f"there is no ready-made study '{name_or_path}', and no such file",
            hint=meant(name_or_path, study_names(), "ready-made studies"),
        )
    content = files.content(path, "the study", LARGEST)
    return parse(content, path.name if ready else name_or_path), path


def workload_from_words(text: str, instrument: str | None = None) -> Workload:
    """Return the workload that `name key=value …` describes.

    Its values have to be right under `instrument`, or under any if it is None.

    Raises:
        InputError: There is no such workload or parameter, a word is not key=value, or a parameter
            is given twice or has a wrong value; the error holds all that is wrong.
    """
    name, *words = text.split() or [""]
    parameters: dict[str, str] = {}
    problems: list[Problem] = []
    for word in words:
        key, sign, value = word.partition("=")
        if not sign:
            hint = "such as 'syscalls calls=null+open'; separate workloads with commas"
            problems.append(Problem(f"'{key}' after '{name}' is not KEY=VALUE", hint=hint))
        elif key in parameters:
            hint = "'+' joins values of one parameter: calls=null+open"
            problems.append(Problem(f"'{key}' is given twice after '{name}'", hint=hint))
        else:
            parameters[key] = value
    known = INSTRUMENTS.values() if instrument is None else [INSTRUMENTS[instrument]]
    try:
        check_workload(name, parameters, known)
    except InputError as error:
        problems += error.problems
    if problems:
        raise InputError.of(tuple(problems))
    return Workload(name, tuple(parameters.items()))


def _at_scale(
    scale: str | None, known: Sequence[Configuration], written: StudyFile
) -> tuple[Configuration, ...]:
    """Return the configurations without those of other scales."""
    elsewhere = {
        index
        for index, table in enumerate(written.configuration)
        if table.scale is not None and table.scale != scale
    }
    return tuple(one for index, one in enumerate(known) if index not in elsewhere)


def _no_scale(name: str, scale: str | None, written: StudyFile) -> InputError:
    """Return the error for a size that the study does not have."""
    known = ", ".join(written.scale) or "none but its own"
    return InputError(f"the study {name} has no scale '{scale}'", hint=f"there are: {known}")


class _NothingToFetchError(Exception):
    """A package would be fetched for a study that is invalid anyway."""


class _Reader:
    """Turns a study file's values into a study, and collects its mistakes."""

    def __init__(self, file: TomlFile, path: Path, package_root: PackageRoot | None) -> None:
        self._file = file
        self._path = path
        self._problems: list[Problem] = []

        def fetch_package(package: str) -> Path:
            if self._problems or package_root is None:
                raise _NothingToFetchError
            return package_root(package)

        root = None if package_root is None else fetch_package
        self._resolver = Resolver(
            file=file,
            folder=path.parent,
            problems=self._problems,
            load_profile=lambda name: catalogue.load(name, root),
            package_root=root,
        )

    def study(self, scale: str | None, instrument: str | None) -> Study:
        """Return the study, or raise all that is wrong with it."""
        found = validated(self._file, StudyFile, self._problems)
        if found is None:
            raise self._error()
        written = found.model
        own = instrument or written.instrument
        by = {scale: own if own in INSTRUMENTS else None}  # another size may be for another one
        sizes = {None: self._workloads(written.workloads, by.get(None), "workloads")} | {
            name: self._workloads(table.workloads, by.get(name), "scale", name, "workloads")
            for name, table in written.scale.items()
        }
        if scale not in sizes:
            raise _no_scale(self._path.stem, scale, written)
        chosen = written.scale.get(scale or "")
        self._instruments(written)
        try:
            known, notes = configurations(written, self._resolver)
        except _NothingToFetchError:
            raise self._error() from None
        # Where a table was faulty and is left out, names that it would have had seem to be missing.
        if not found.dropped & {"configuration", "axis"}:
            self._names(known, written)
            self._scales(written)
        if self._problems:
            raise self._error()
        return Study(
            name=self._path.stem if scale is None else f"{self._path.stem}-{scale}",
            title=written.title or self._path.stem,
            description=written.description,
            workloads=sizes[scale],
            configurations=_at_scale(scale, known, written),
            baseline=written.baseline,
            asked=written.asked,
            published=written.published,
            instrument=written.instrument,
            seeds=tuple(dict.fromkeys(written.seeds)),
            repetitions=written.repetitions,
            perturbations=written.perturbations,
            notes=notes,
            setup=Setup(written.fresh_boot, written.init, tuple(dict.fromkeys(written.record))),
            timeout=(chosen and chosen.timeout) or written.timeout,
            successive=next((axis.name for axis in written.axis if axis.successive), None),
        )

    def _error(self) -> InputError:
        """Return all problems as one error: this file's by line, then those of other files."""
        own = self._file.name

        def order(problem: Problem) -> tuple[bool, int]:
            place = problem.place
            return place is None or place.file != own, (place and place.line) or 0

        return InputError.of(tuple(sorted(dict.fromkeys(self._problems), key=order)))

    def _workloads(
        self, texts: Sequence[str], instrument: str | None, *at: str | int
    ) -> tuple[Workload, ...]:
        found: list[Workload] = []
        for index, text in enumerate(texts):
            try:
                one = workload_from_words(text, instrument)
                if one in found:
                    hint = "it is measured once: leave one of them out"
                    self._wrong(f"the workload '{one}' is named twice", *at, index, hint=hint)
                found.append(one)
            except InputError as error:
                for problem in error.problems:
                    self._wrong(problem.message, *at, index, hint=problem.hint)
        return tuple(dict.fromkeys(found))

    def _instruments(self, written: StudyFile) -> None:
        if written.instrument not in INSTRUMENTS:
            hint = meant(written.instrument, INSTRUMENTS, "instruments")
            self._wrong(f"there is no instrument '{written.instrument}'", "instrument", hint=hint)
        for index, name in enumerate(written.record):
            if name not in RECORDERS:
                hint = meant(name, RECORDERS, "recorders")
                message = f"there is no recorder '{name}'"
                self._wrong(message, "record", index, hint=hint)

    def _names(self, known: tuple[Configuration, ...], written: StudyFile) -> None:
        """Check that each configuration has a name of its own, and that one is the baseline."""
        listed = [configuration.name for configuration in known]
        seen: set[str] = set()
        for index, name in enumerate(listed):
            is_point = index >= len(written.configuration)
            at = ("axis",) if is_point else ("configuration", index, "name")
            if name in seen:
                self._wrong(f"two configurations are called '{name}'", *at)
            if name.startswith(PLACEBO):
                self._wrong(f"names that begin with {PLACEBO} are hardcost's own", *at)
            seen.add(name)
        if not listed:
            self._wrong("the study compares nothing", hint="add [[configuration]] or [[axis]]")
        elif "baseline" in self._file.data and written.baseline not in listed:
            hint = configuration_meant(written.baseline, listed)
            self._wrong(f"there is no configuration '{written.baseline}'", "baseline", hint=hint)
        if written.asked is not None and written.asked not in listed:
            hint = configuration_meant(written.asked, listed)
            self._wrong(f"there is no configuration '{written.asked}'", "asked", hint=hint)
        elif written.asked is not None and written.asked == written.baseline:
            self._wrong("the baseline is what others are compared with, and has no cost", "asked")

    def _scales(self, written: StudyFile) -> None:
        """Check that the scales that configurations name exist; the baseline is in all."""
        for index, table in enumerate(written.configuration):
            at = ("configuration", index, "scale")
            if table.scale is not None and table.scale not in written.scale:
                hint = meant(table.scale, tuple(written.scale), "scales")
                self._wrong(f"there is no scale '{table.scale}'", *at, hint=hint)
            if table.scale is not None and table.name == written.baseline:
                self._wrong("the baseline must exist at every scale", *at)

    def _wrong(self, message: str, *at: str | int, hint: str | None = None) -> None:
        self._problems.append(self._file.problem(message, *at, hint=hint))

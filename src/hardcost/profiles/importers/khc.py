"""Reports of kernel-hardening-checker (`-m json`), and the profile of the failing checks.

The report is an array of checks. A check was at first `[name, desired, decision, reason, result]`,
for the kernel's configuration only. Later its type (`kconfig`, `cmdline`, `sysctl`) was added in
second place. Now it is an object. Some versions print warnings before the JSON; they are skipped.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from auditrules.model.location import Location
from hardcost.controls.control import Profile
from hardcost.errors import InputError, Problem
from hardcost.files import json_value
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.kconfig import KernelOption
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.profiles import toml_text
from hardcost.profiles.kernel.options import entry_of

LARGEST = 16 << 20
"""Most bytes of a report; one with every existing check has about 60 kB."""

_MOST_PROBLEMS = 20
_TYPES = ("kconfig", "cmdline", "sysctl")
_OPTION = re.compile(r"CONFIG_[A-Za-z0-9_]+")
_NOT_SET, _PRESENT, _NOT_OFF, _MOST = "is not set", "is present", "is not off", "MAX"
_KEYS = ("option_name", "type", "desired_val", "check_result")
_WARNING = re.compile(r"\[[!?+-]\].*")
_IN_LIST = re.compile(r"\*([^*]+)\*")
_SHOWN = 60  # characters of an invalid name that a message repeats
_HINT = "generate it with kernel-hardening-checker -m json, and -c, -l or -s for what to check"


@dataclass(frozen=True)
class KernelCheck:
    """One check of a report.

    `kind` is one of `_TYPES`, `desired` a value or words such as `is not set`.
    """

    name: str
    kind: str
    desired: str
    failed: bool


@dataclass(frozen=True)
class Findings:
    """The failing checks that can be switched on, and notes on the others.

    `checks` and `failing` count all checks of the report and the failing ones.
    """

    options: tuple[KernelOption, ...]
    boots: tuple[BootParameter, ...]
    sysctls: tuple[Sysctl, ...]
    notes: tuple[str, ...]
    checks: int
    failing: int


def read(content: bytes, name: str) -> Findings:
    """Return the failing checks of a report; `name` is the file as the user called it.

    Raises:
        InputError: It is not such a report, or no failing check can be switched on.
    """
    checks = _checks(_parse_json(content, name), name)
    found = _Collected({}, {}, {}, [])
    problems: list[Problem] = []
    for number, check in enumerate(checks, 1):
        if not check.failed:
            continue
        try:
            found.take(check)
        except ValueError as error:
            problems.append(Problem(f"check {number}: {error}", Location(name), _HINT))
    if problems:
        raise InputError.of(tuple(problems[:_MOST_PROBLEMS]))
    failing = sum(check.failed for check in checks)
    if not (found.options or found.boots or found.sysctls):
        message = f"{failing} of {len(checks)} checks fail, and none of them can be switched on"
        raise InputError(message, place=Location(name))
    return Findings(
        tuple(found.options.values()),
        tuple(found.boots.values()),
        tuple(found.sysctls.values()),
        tuple(dict.fromkeys(found.notes)),
        len(checks),
        failing,
    )


def profile_toml(findings: Findings, name: str) -> str:
    """Return the findings as a profile's TOML file, which `catalogue.load` reads."""
    shown = name if name.isprintable() else ascii(name)
    title = f"Checks of kernel-hardening-checker that fail in {shown}"
    counts = f"{findings.failing} of {findings.checks} checks fail"
    source = f"kernel-hardening-checker, {shown}: {counts}"
    controls = (*findings.options, *findings.boots, *findings.sysctls)
    return toml_text.text(Profile(name, title, source, controls, findings.notes))


@dataclass(frozen=True)
class _Collected:
    """The findings so far; of two checks of one setting the later wins."""

    options: dict[str, KernelOption]
    boots: dict[str, BootParameter]
    sysctls: dict[str, Sysctl]
    notes: list[str]

    def take(self, check: KernelCheck) -> None:
        """Add the setting that a failing check requires.

        Raises:
            ValueError: The check has an impossible name or value.
        """
        if check.kind == "kconfig":
            self._kconfig(check)
        elif check.kind == "cmdline":
            self._cmdline(check)
        else:
            self._sysctl(check)

    def _kconfig(self, check: KernelCheck) -> None:
        value = "n" if check.desired == _NOT_SET else check.desired
        meant = _no_value(value)
        option = KernelOption.of(f"{check.name}={'n' if meant else value}")
        entry = entry_of(option.option)
        if meant:
            self._leave_out(check, meant)
        elif entry is not None and entry.status == "gone":
            self._leave_out(check, entry.note)
        elif entry is not None and entry.published == option:
            # Reports on old kernels have old names.
            self.options[entry.option.option] = entry.option
        else:
            self.options[option.option] = option

    def _cmdline(self, check: KernelCheck) -> None:
        listed = _IN_LIST.fullmatch(check.desired)
        meant = None if listed or check.desired == _PRESENT else _no_value(check.desired)
        value = listed[1] if listed else check.desired
        bare = meant is not None or check.desired == _PRESENT
        boot = BootParameter(check.name if bare else f"{check.name}={value}")
        _ = boot.word
        if "=" in check.name:
            raise ValueError(f"{check.name[:_SHOWN]!r} is not the name of a boot parameter")
        if meant:
            self._leave_out(check, meant)
        else:
            self.boots[check.name] = boot

    def _sysctl(self, check: KernelCheck) -> None:
        meant = _no_value(check.desired)
        sysctl = Sysctl(check.name, "0" if meant else check.desired)
        path = sysctl.path
        if meant:
            self._leave_out(check, meant)
        else:
            self.sysctls[path] = sysctl

    def _leave_out(self, check: KernelCheck, why: str) -> None:
        self.notes.append(f"{check.kind} {check.name} ({check.desired}) is left out: {why}")


def _no_value(desired: str) -> str | None:
    """Return why `desired` is not a value that can be set, or None if it is."""
    if not desired.isprintable():
        raise ValueError(f"{desired[:_SHOWN]!r} is not a value")
    if _IN_LIST.fullmatch(desired):
        return "it is one word of a list, and the report omits the others"
    return {
        _NOT_SET: "it must not be set, and a profile can only set things",
        _PRESENT: "the kernel itself determines whether it is there",
        _NOT_OFF: "any value but off will do, and the kernel chooses one",
        _MOST: "the report does not give the largest value",
    }.get(desired)


def _parse_json(content: bytes, name: str) -> Any:  # noqa: ANN401  (JSON's values)
    """Return the values of a report."""
    if len(content) > LARGEST:
        raise InputError("this is too large for a report", place=Location(name), hint=_HINT)
    try:
        # Blank lines replace warnings, so that lines keep their numbers.
        lines = content.decode().split("\n")
        lines = ["" if _WARNING.fullmatch(line.rstrip()) else line for line in lines]
        return json_value("\n".join(lines))
    except UnicodeDecodeError as error:
        place = Location(name, content.count(b"\n", 0, error.start) + 1)
        raise InputError("this is not UTF-8", place=place, hint=_HINT) from None
    except json.JSONDecodeError as error:
        place = Location(name, error.lineno, error.colno)
        raise InputError(f"this is not JSON: {error.msg}", place=place, hint=_HINT) from None
    except ValueError:
        message = "values are nested too deeply, or a number is too long"
        raise InputError(message, place=Location(name), hint=_HINT) from None


def _checks(data: Any, name: str) -> tuple[KernelCheck, ...]:  # noqa: ANN401  (JSON's values)
    """Return the checks of a report."""
    if not isinstance(data, list) or not data:
        raise InputError("this is not an array of checks", place=Location(name), hint=_HINT)
    found: list[KernelCheck] = []
    problems: list[Problem] = []
    for number, row in enumerate(data, 1):
        try:
            found.append(_check(row))
        except ValueError as error:
            problems.append(Problem(f"check {number}: {error}", Location(name), _HINT))
    if problems:
        raise InputError.of(tuple(problems[:_MOST_PROBLEMS]))
    return tuple(found)


def _check(row: Any) -> KernelCheck:  # noqa: ANN401  (JSON's values)
    """Return one check, in whichever form; ValueError if it is invalid."""
    fields = _fields(row)
    if not all(isinstance(value, str) for value in fields.values()):
        raise ValueError("name, type, desired value and result must be text")
    name, kind, desired, result = (fields[key] for key in _KEYS)
    if kind not in _TYPES:
        raise ValueError(f"there is no type {kind[:_SHOWN]!r}: types are {', '.join(_TYPES)}")
    if kind == "kconfig" and not _OPTION.fullmatch(name):
        raise ValueError(f"{name[:_SHOWN]!r} is not a kernel option")
    if not result.startswith(("OK", "FAIL")):
        raise ValueError(f"the result {result[:_SHOWN]!r} begins with neither OK nor FAIL")
    return KernelCheck(name, kind, desired, result.startswith("FAIL"))


def _fields(row: Any) -> dict[str, Any]:  # noqa: ANN401  (JSON's values)
    """Return the fields of a check by their current names."""
    if isinstance(row, dict):
        missing = [key for key in _KEYS if key not in row]
        if missing:
            raise ValueError(f"it has no {', '.join(missing)}")
        return {key: row[key] for key in _KEYS}
    if not isinstance(row, list):
        raise ValueError("it is neither an object nor an array")  # noqa: TRY004  (one of many faults)
    typed = len(row) > 1 and row[1] in _TYPES
    wanted = 6 if typed else 5  # one less without results
    if len(row) == wanted - 1:
        raise ValueError("it has no result")
    if len(row) != wanted:
        raise ValueError(f"it has {len(row)} elements, not {wanted}")
    kind, desired = (row[1], row[2]) if typed else ("kconfig", row[1])
    return dict(zip(_KEYS, (row[0], kind, desired, row[-1]), strict=True))

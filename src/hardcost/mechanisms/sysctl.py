"""Kernel settings under /proc/sys: written while the machine runs, read back, and compared."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import BaseModel, Field, StrictInt, field_validator

from auditrules.model.location import Location
from hardcost.controls.control import Control, PlaceboKind, Profile, Rank, of_kind
from hardcost.controls.reach import Reach, reach
from hardcost.errors import InputError, TrialError
from hardcost.mechanisms.ansible import Outside, TaskGroup
from hardcost.mechanisms.export import Exported, Left, lines, with_comments
from hardcost.mechanisms.mechanism import TABLE, Mechanism, TableSource
from hardcost.toml.read import flattened
from hardcost.toml.write import TomlEntry

if TYPE_CHECKING:
    from hardcost.protocol.answers import Answer
    from hardcost.protocol.requests import Request

TEXT_SETTINGS = frozenset(
    {"kernel/core_pattern", "kernel/hotplug", "kernel/modprobe", "kernel/poweroff_cmd"}
)
"""Settings under /proc/sys that are texts, for which nothing is a value."""

_EMPTY = "\n"
"""What systemd-sysctl writes of an empty value: nothing at all would leave the old one."""

# A guest's only network device is `lo`, beside what stands for all and for new ones.
_DEVICES = {"conf": ("all", "default", "lo"), "neigh": ("default", "lo")}
_OF_DEVICE = re.compile(
    r"(?P<before>net/ipv[46]/(?P<kind>conf|neigh)/)(?P<device>[^/]+)(?P<after>/\w+)", re.ASCII
)

_SWAP = str.maketrans("./", "/.")
_NAME = re.compile(r"[\w.:@+-]+", re.ASCII)
_WILD = re.compile(r"[*?\[]")
_TEMPLATE = re.compile(r"[^=]*(?:=\s*)?(\{\{|\{%|<%)")


@dataclass(frozen=True)
class Sysctl(Control):
    """A kernel setting under /proc/sys; `key` is dotted, as sysctl(8) writes it.

    A key whose first separator is a slash is a path, so that a name in it may contain a dot:
    `net/ipv4/conf/eth0.1/forwarding`, or dotted `net.ipv4.conf.eth0/1.forwarding`. `value` may be
    empty where the setting is a text.
    """

    key: str
    value: str

    mechanism: ClassVar[str] = "sysctl"
    like: ClassVar[PlaceboKind] = "sysctl"
    rank: ClassVar[Rank] = Rank.SYSCTL
    noun: ClassVar[str] = "sysctl"
    may_be_refused: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return f"{self.key}={self.value}"

    @property
    def slot(self) -> str:
        """Return the setting: however its key is written, the last value holds."""
        return self.path

    @property
    def reach(self) -> Reach | None:
        return reach(self.key.replace("/", "."))

    @property
    def absent(self) -> str | None:
        """Return the network device that the key names, if no guest has it."""
        found = _OF_DEVICE.fullmatch(with_slashes(self.key))
        if found is None or found["device"] in {"all", *_DEVICES[found["kind"]]}:
            return None
        return found["device"]

    @property
    def setting(self) -> str:
        return f"{self.path}={self.value}"

    @property
    def path(self) -> str:
        """Return the setting's file under /proc/sys.

        Raises:
            ValueError: The key names no such file, or the value is not a single line of text.
        """
        swapped = with_slashes(self.key)
        parts = swapped.split("/")
        if len(parts) == 1 or not all(_NAME.fullmatch(part) for part in parts):
            raise ValueError(f"{self.key!r} is not a sysctl key, such as kernel.kptr_restrict")
        if {".", ".."} & set(parts):
            raise ValueError(f"{self.key!r} leaves /proc/sys")
        empty = not self.value.strip() and not (self.value == "" and swapped in TEXT_SETTINGS)
        if empty or not self.value.replace("\t", " ").isprintable():
            raise ValueError(f"{self.key} can't be set to {self.value!r}")
        return f"/proc/sys/{swapped}"

    @classmethod
    def of(cls, text: str, place: Location | None = None) -> Self:
        """Return the setting of `KEY=VALUE`, with its location.

        Raises:
            InputError: It is not KEY=VALUE, or the key is a pattern or names nothing under
                /proc/sys.
        """
        key, sign, value = (part.strip() for part in text.partition("="))
        if not sign:
            raise InputError(
                f"'{text}' is not KEY=VALUE", place=place, hint="such as kernel.kptr_restrict=2"
            )
        if has_pattern(key):
            raise InputError(
                f"'{key}' is a pattern, whose keys depend on the machine",
                place=place,
                hint="write each key on a line of its own",
            )
        found = cls(key, value, place=place)
        try:
            _ = found.path
        except ValueError as error:
            raise InputError(str(error), place=place, hint="sysctl -a lists the keys") from None
        return found


def has_pattern(key: str) -> bool:
    """Say whether a key is a pattern."""
    return _WILD.search(key) is not None


def with_slashes(key: str) -> str:
    """Return a key with a slash between its parts, as sysctl.d(5) reads it."""
    first = re.search(r"[./]", key)
    if first is None or first[0] == "/":
        return key
    return key.translate(_SWAP)


def expand_pattern(pattern: str) -> tuple[str, ...] | None:
    """Return a guest's keys that a pattern names; None where which there are is not known."""
    found = _OF_DEVICE.fullmatch(with_slashes(pattern))
    if found is None:
        return None
    devices = _DEVICES[found["kind"]]
    return tuple(
        f"{found['before']}{device}{found['after']}".replace("/", ".")
        for device in devices
        if fnmatch.fnmatchcase(device, found["device"])
    )


def template_of(line: str) -> str | None:
    """Return the language of templates that a line is written in; None if it is in none.

    Braces further on in a value are text: `core_pattern` may name any program.
    """
    found = _TEMPLATE.match(line)
    if found is None:
        return None
    return "ERB" if found[1] == "<%" else "Jinja"


class SysctlKeys(BaseModel):
    """`[sysctl]` maps keys to values."""

    model_config = TABLE

    sysctl: Annotated[dict[str, StrictInt | str], Field(default_factory=dict)]

    @field_validator("sysctl", mode="before")
    @classmethod
    def _flat(cls, value: object) -> object:
        """Join keys that TOML splits: `kernel.kptr_restrict = 1` is a table in a table."""
        return flattened(value) if isinstance(value, dict) else value


class SysctlMechanism(Mechanism[SysctlKeys]):
    """A kernel setting under /proc/sys, written while the machine runs."""

    name = "sysctl"
    toml = '`sysctl = { "kernel.kptr_restrict" = 2 }`'
    verified_by = "its value, read back"
    keys = SysctlKeys
    export_verb = "sysctl"

    def read(self, table: SysctlKeys, source: TableSource) -> Iterator[Control]:
        for key, value in table.sysctl.items():
            sysctl = Sysctl(key, str(value), place=source.place("sysctl", key))
            try:
                _ = sysctl.path
            except ValueError as error:
                source.fault(str(error), "sysctl", key)
            else:
                yield sysctl

    def write(self, controls: Sequence[Control]) -> Iterator[TomlEntry]:
        for one in of_kind(controls, Sysctl):
            yield TomlEntry(("sysctl", one.key), one.value, (one.name,))

    def requests(self, controls: Sequence[Control]) -> Sequence[Request]:
        """Return the requests that write the settings.

        Raises:
            InputError: A key names nothing under /proc/sys.
        """
        from hardcost.protocol.requests import Write  # noqa: PLC0415  (a price writes nothing)

        return tuple(
            Write(path=_path(one), value=one.value or _EMPTY) for one in of_kind(controls, Sysctl)
        )

    def verify(self, controls: Sequence[Control], answers: Sequence[Answer]) -> Sequence[str]:
        """Check that each setting reads as it was written; spaces and tabs count alike.

        Returns notes on settings that can't be read back.

        Raises:
            TrialError: A setting did not take its value.
        """
        from hardcost.protocol.answers import WrittenAnswer, all_of  # noqa: PLC0415  (as above)

        notes: list[str] = []
        written = all_of(answers, WrittenAnswer)
        for control in of_kind(controls, Sysctl):
            found = next((answer for answer in written if answer.path == _path(control)), None)
            if found is None:
                raise TrialError(f"the machine did not set {control.name}")
            # A key set twice is answered twice, in order.
            written.remove(found)
            if found.after is None:
                notes.append(f"{control.key} can't be read back: whether it took is not known")
            elif found.after.split() != control.value.split():
                raise TrialError(
                    f"{control.name} did not take: {control.key} is {found.after!r}",
                    place=control.place,
                    hint=f"before, it was {found.before!r}: set a value that this kernel takes",
                )
        return tuple(notes)

    def explain(self, controls: Sequence[Control], message: str) -> InputError | None:
        """Return the user's error behind a setting that the kernel lacks or refuses."""
        for control in of_kind(controls, Sysctl):
            _, found, reason = message.partition(f"{_path(control)}: ")
            if found and "No such file" in reason:
                return InputError(
                    f"the kernel has no setting {control.key}",
                    place=control.place,
                    hint="check the key's spelling, or use a kernel that is built with it",
                )
            if found:
                return InputError(
                    f"the kernel refuses {control.name}: {re.sub(r' [(]os error .*', '', reason)}",
                    place=control.place,
                    hint="the kernel's documentation of the setting says what it takes",
                )
        return None

    def export(self, profile: Profile) -> Exported:
        """Return a profile's sysctls as a file for /etc/sysctl.d."""
        found, left = lines(profile.controls, Sysctl, _sysctl_line, other="it is no sysctl")
        return with_comments(profile, found, len(found), left, "sysctls")

    def ansible_tasks(self, profile: Profile) -> tuple[Sequence[TaskGroup], Sequence[Left]]:
        """Return the group of sysctls, whose file is that of the export."""
        own = replace(profile, controls=tuple(of_kind(profile.controls, Sysctl)))
        made = self.export(own)
        lacking = {name for name, _ in made.left}
        kept = {
            one.key: one.value for one in of_kind(own.controls, Sysctl) if one.name not in lacking
        }
        pairs = [Outside({"key": key, "value": value}) for key, value in kept.items()]
        files = {"90-ROLE.conf": made.text}
        return [TaskGroup("sysctl", "sysctls", made.controls, {"sysctls": pairs}, files)], made.left


def _path(control: Sysctl) -> str:
    """Return the setting's file."""
    try:
        return control.path
    except ValueError as error:
        raise InputError(str(error), hint="sysctl -a lists the keys") from None


def _sysctl_line(control: Sysctl) -> str | None:
    """Return the line of sysctl.d that is read as the same setting."""
    line = f"{control.key} = {control.value}"
    if line.startswith(("-", "#", ";")) or "\n" in line or "\r" in line or template_of(line):
        return None
    try:
        return line if Sysctl.of(line) == control else None
    except InputError:
        return None


SYSCTLS = SysctlMechanism()

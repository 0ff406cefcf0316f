"""`Mechanism`, which each file of this folder defines, and its source while it reads TOML.

Each file has the control's type, the keys that it has in TOML, and a `Mechanism` that reads and
writes these, applies the controls, checks that they took, and exports them. `registry.py` lists the
mechanisms; nothing else has to know of a new one.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StrictBool, model_validator
from pydantic_core import PydanticCustomError

from auditrules.model.location import Location
from hardcost.controls.control import Control, Controls, Profile
from hardcost.errors import InputError, Problem
from hardcost.mechanisms.ansible import TaskGroup
from hardcost.mechanisms.export import Exported, Left
from hardcost.toml.read import TomlFile
from hardcost.toml.write import TomlEntry

if TYPE_CHECKING:  # the models of the protocol take long, and only trials need them
    from hardcost.protocol.answers import Answer
    from hardcost.protocol.boot import WordVerdict
    from hardcost.protocol.requests import Request

TABLE = ConfigDict(extra="forbid", frozen=True, defer_build=True)

AbsolutePath = Annotated[str, Field(pattern=r"^(/[^/\s]+)+$")]
"""A path below the root, without white space."""


class Phase(IntEnum):
    """When the controls of a mechanism are applied; services are stopped in the opposite order.

    Mechanisms of one phase come in the order of the registry. Services take up what those before
    them hand on: auditd needs a syslog daemon to speak to, and what hooks into every opened file
    comes last.
    """

    POLICY = 1
    MOUNTS = 2
    SETTINGS = 3
    UNITS = 4
    SYSLOG = 5
    AUDIT_DAEMON = 6
    AUDIT_RULES = 7
    SCANNER = 8
    APPLICATION_CONTROL = 9


@dataclass(frozen=True)
class TableSource(ABC):
    """Where a table of controls is read from: the file, and the keys `at` that lead to the table.

    Relative paths begin at `folder`; `shown` is the name of another file in locations. What is
    wrong joins `problems`, what a reader has to know joins `notes`.
    """

    file: TomlFile
    folder: Path
    problems: list[Problem]
    notes: list[str] = field(default_factory=list, kw_only=True)
    at: tuple[str | int, ...] = field(default=(), kw_only=True)

    def within(self, *path: str | int) -> Self:
        """Return the source of a value in the table."""
        return replace(self, at=(*self.at, *path))

    def place(self, *path: str | int) -> Location | None:
        """Return the location of a value; None where the table is in no file."""
        found = self.file.place(*self.at, *path)
        return None if found.line is None else found

    def fault(self, message: str, *path: str | int, hint: str | None = None) -> None:
        """Report a problem of a value."""
        self.problems.append(self.file.problem(message, *self.at, *path, hint=hint))

    @abstractmethod
    def profile(self, name: str, *path: str | int) -> Controls:
        """Return the controls of a profile by its name, or its path relative to the file."""

    @abstractmethod
    def paths(self, files: Sequence[str], package: str | None) -> list[Path]:
        """Return the paths of files, relative to this one or within a Debian package."""

    @abstractmethod
    def audit_rules(self, files: Sequence[Path], scap_profile: str | None) -> Controls:
        """Return audit with the rules of files, or those that a profile of datastreams requires."""


class ServiceTable(BaseModel):
    """A service: `true`, `false` (as if it were absent), or a table of its settings."""

    model_config = TABLE

    enabled: StrictBool = True

    @model_validator(mode="before")
    @classmethod
    def _table_of_switch(cls, value: object) -> object:
        if isinstance(value, bool):
            return {"enabled": value}
        if not isinstance(value, dict | ServiceTable):
            raise PydanticCustomError("service", "should be true, false or a table")
        return value


class NoKeys(BaseModel):
    """The keys of a mechanism that no file names."""

    model_config = TABLE


Keys = TypeVar("Keys", bound=BaseModel)


class Mechanism(ABC, Generic[Keys]):
    """A kind of control. Its docstring begins with its line in a table of docs/whole-systems.md.

    Methods that take `controls` get those of a whole configuration, of all kinds.
    """

    name: ClassVar[str]
    """Its name in reports."""

    toml: ClassVar[str] = ""
    """How it is written in TOML, for the same table; "" if no file names it."""

    verified_by: ClassVar[str] = ""
    """The evidence in each trial that a control took."""

    keys: type[Keys]
    """Its keys in a table of controls, as fields of a model."""

    phase: ClassVar[Phase] = Phase.SETTINGS

    only_in_guests: ClassVar[frozenset[str]] = frozenset()
    """Requests, by their names, that a machine that runs already is not asked for."""

    def read(self, table: Keys, source: TableSource) -> Iterable[Control]:
        """Return the controls of a table; mistakes join the source's problems."""
        return ()

    def write(self, controls: Sequence[Control]) -> Iterable[TomlEntry]:
        """Return the entries that `read` makes the same controls of."""
        return ()

    def boot_parameters(self, controls: Sequence[Control]) -> Sequence[str]:
        """Return the words that they add to the kernel's command line.

        Raises:
            InputError: One is not a single word.
        """
        return ()

    def check_boot(
        self,
        controls: Sequence[Control],
        verdicts: Sequence[WordVerdict],
    ) -> tuple[Sequence[Problem], Sequence[str]]:
        """Return the problems of these words by the kernel's verdicts, and notes."""
        return (), ()

    def requests(self, controls: Sequence[Control]) -> Sequence[Request]:
        """Return the requests to the probe before the workload.

        Raises:
            InputError: A control can't be applied.
        """
        return ()

    def finish(self, controls: Sequence[Control]) -> Sequence[Request]:
        """Return the requests that end services after the workload, once they have finished."""
        return ()

    def counting(self, controls: Sequence[Control]) -> Sequence[Request]:
        """Return the requests that count the services' logs, once every service has stopped."""
        return ()

    def verify(
        self,
        controls: Sequence[Control],
        answers: Sequence[Answer],
    ) -> Sequence[str]:
        """Check in the probe's answers that every control took; return notes for the reader.

        Raises:
            InputError: The guest's own tools refused a control.
            TrialError: A control did not take.
        """
        return ()

    def check(self, controls: Sequence[Control], name: str) -> None:
        """Check the controls of a profile `name` as far as no machine is needed.

        Raises:
            InputError: Some can't be applied; all are reported at once.
        """

    def steady(self, controls: Sequence[Control], among: Sequence[Control]) -> Sequence[Control]:
        """Return the controls so that leaving out any of `among` changes nothing else."""
        return controls

    def remarks(self, controls: Sequence[Control]) -> Sequence[str]:
        """Return remarks for the reader of their bill."""
        return ()

    def overruled_controls(self, controls: Sequence[Control]) -> Iterable[tuple[str, str]]:
        """Yield each control, by its name, that another switches off, and which does.

        What is switched off has no cost, or a negative one.
        """
        return ()

    def explain(self, controls: Sequence[Control], message: str) -> InputError | None:
        """Return the user's error behind a failure that the probe reports; None if another."""
        return None

    export_verb: ClassVar[str] = ""
    """The verb of `hardcost export` that writes these controls alone."""

    def export(self, profile: Profile) -> Exported:
        """Return a profile's controls of this kind as a file for the tool that applies them."""
        raise NotImplementedError

    why_no_ansible_tasks: ClassVar[str] = "hardcost has no tasks for it"
    """Why an Ansible role does not set these controls."""

    def ansible_tasks(self, profile: Profile) -> tuple[Sequence[TaskGroup], Sequence[Left]]:
        """Return the groups of an Ansible role's tasks, and the controls that they can't set."""
        own = (one for one in profile.controls if one.mechanism == self.name)
        return (), [(one.name, self.why_no_ansible_tasks) for one in own]

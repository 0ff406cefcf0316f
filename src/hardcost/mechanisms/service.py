"""Units of systemd on a machine that runs already: started with files of theirs, or stopped.

The keeper there changes them and puts them back; where a unit does not come to run, or to stop, it
says so, and the trial fails.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field, StrictBool, model_validator
from pydantic_core import PydanticCustomError

from hardcost.controls.control import Control, of_kind
from hardcost.mechanisms.mechanism import TABLE, AbsolutePath, Mechanism, Phase, TableSource
from hardcost.protocol import ask
from hardcost.protocol.requests import Request
from hardcost.toml.write import TomlEntry

_Unit = Annotated[str, Field(pattern=r"^[A-Za-z0-9:_.\\@-]+\.(service|socket|timer|path)$")]


@dataclass(frozen=True)
class Service(Control):
    """A unit of systemd on a machine that runs already: it runs there, or is stopped.

    `files` are (path, text) that replace the machine's own while it runs.
    """

    unit: str
    running: bool = True
    files: tuple[tuple[str, str], ...] = ()

    whole_system: ClassVar[bool] = True
    suspect: ClassVar[bool] = True
    mechanism: ClassVar[str] = "service"

    @property
    def slot(self) -> str:
        """Return the slot, which at most one control may have."""
        return f"service {self.unit}"

    @property
    def name(self) -> str:
        state = "running" if self.running else "stopped"
        return f"{self.unit} {state}{''.join(f' {path}' for path, _ in self.files)}"


class UnitTable(BaseModel):
    """A unit of systemd: `"running"`, `"stopped"`, or a table.

    `files` maps paths to texts that the unit sees instead of the machine's own.
    """

    model_config = TABLE

    running: StrictBool = True
    files: dict[AbsolutePath, str] = {}

    @model_validator(mode="before")
    @classmethod
    def _state(cls, value: object) -> object:
        if isinstance(value, str) and value in {"running", "stopped"}:
            return {"running": value == "running"}
        if not isinstance(value, dict | UnitTable):
            message = 'should be "running", "stopped" or a table'
            raise PydanticCustomError("unit", message)
        return value


class ServiceKeys(BaseModel):
    """`[service]` maps units of systemd to their wanted states."""

    model_config = TABLE

    service: dict[_Unit, UnitTable] = {}


class ServiceMechanism(Mechanism[ServiceKeys]):
    """A unit of systemd on a machine that runs already, with files of its own."""

    name = "service"
    why_no_ansible_tasks = "which services run, and with which files, is your site's"
    toml = '`service = { "rsyslog.service" = "stopped" }`, or `{ running, files }`'
    verified_by = "the state that systemd reports"
    keys = ServiceKeys
    phase = Phase.UNITS

    def read(self, table: ServiceKeys, source: TableSource) -> Iterator[Control]:
        for unit, wanted in table.service.items():
            place = source.place("service", unit)
            yield Service(unit, wanted.running, tuple(wanted.files.items()), place=place)

    def write(self, controls: Sequence[Control]) -> Iterator[TomlEntry]:
        for one in of_kind(controls, Service):
            yield TomlEntry(("service", one.unit, "running"), one.running, (one.name,))
            for path, text in one.files:
                yield TomlEntry(("service", one.unit, "files", path), text, (one.name,))

    def requests(self, controls: Sequence[Control]) -> tuple[Request, ...]:
        """Return the requests that start and stop units, each after its files."""
        return tuple(
            ask.unit(one.unit, running=one.running, files=dict(one.files))
            for one in controls
            if isinstance(one, Service)
        )


SERVICES = ServiceMechanism()

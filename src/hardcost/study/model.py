"""Studies: the file as it is written, and the values that reading it yields.

A study file is TOML:

    title = "What address space randomisation costs"
    workloads = ["syscalls", "syscalls calls=open+stat"]
    baseline = "aslr=0"

    [[configuration]]               # a state written out by itself
    name = "audit-off"
    boot = ["audit=0"]

    [base]                          # what every point of the grid has
    audit = { backlog_limit = 8192 }

    [[axis]]                        # the grid: each level of each axis with each of the others'
    name = "aslr"
    values = [0, 1, 2]
    sysctl = { "kernel.randomize_va_space" = "{value}" }

    [[axis]]
    name = "filter"                 # named levels, each with controls of its own
    default = "none"
    [axis.levels.none]
    [axis.levels.quiet]
    audit.rules = ["-a never,task"]

    [[axis]]
    name = "catch-all"              # on or off
    switch = true
    audit.rules = ["-a always,exit -S all -F uid=70000"]

A point's name is its levels joined by spaces, those at their axis's default left out: `aslr=2
catch-all`, or `base` where all are. The grid comes after the configurations, and the first axis
varies fastest. Paths are relative to the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, Field, StrictBool, StrictInt

from hardcost.profiles.systemtable import TABLE
from hardcost.profiles.written import AuditTable, ControlsTable

if TYPE_CHECKING:
    from hardcost.controls.control import Control

Name = Annotated[str, Field(pattern=r"^[^\s=]+$")]
"""One word without `=`, since names are put together from such words."""


class AxisAudit(AuditTable):
    """`audit = { … }` of an axis: besides, one rule made over and over.

    `repeat` is made once for each of the first `value` numbers from `from` on, which take the
    place of `{n}` in it: with `from = 70001`, the level 2 has rules for 70001 and 70002.
    """

    repeat: str | None = None
    start: Annotated[StrictInt, Field(alias="from", ge=0)] = 1


class AxisTable(ControlsTable):
    """`[[axis]]`: its levels are `values`, `levels`, or on and off where `switch` is true.

    Where `cumulative` is true, each level has the controls of those before it too. In `boot`,
    `sysctl`, `kconfig` and `audit.rules`, `{value}` stands for the level. `default` is the level
    that a configuration's name leaves out; a switch's is off. The controls that stand here are
    taken at every level but off.
    """

    name: Name
    values: tuple[StrictInt | str, ...] = ()
    switch: StrictBool = False
    levels: dict[str, ControlsTable] = Field(default_factory=dict)
    cumulative: StrictBool = False
    default: StrictInt | str | None = None
    audit: AxisAudit | None = None


class ConfigurationTable(ControlsTable):
    """`[[configuration]]`: a name and the controls that are on.

    One with a `scale` is part of the study at that scale alone.
    """

    name: Annotated[str, Field(min_length=1)]
    scale: str | None = None


class ScaleTable(BaseModel):
    """`[scale.NAME]`: the study at another size, asked for by `--scale NAME`.

    `workloads` take the place of the study's own, `timeout` too; `title` says what it is.
    """

    model_config = TABLE

    title: str = ""
    workloads: Annotated[tuple[str, ...], Field(min_length=1)]
    timeout: Annotated[StrictInt, Field(ge=1)] | None = None


class StudyFile(BaseModel):
    """A study file.

    Without a `title`, the file's name stands for it. `baseline` is the configuration that the
    others are compared to, `published` a set of published figures to print beside. `seeds` say
    which memory layouts are measured, 0 being the fixed one. `repetitions` are of each trial, under
    an instrument that needs them.

    Where `fresh-boot` is true each trial boots, where it would go on from a snapshot otherwise.
    `init` says what starts a Debian guest's services, `record` which instruments ride along.
    `timeout` is how many seconds of this host's time a trial may take. `scale` are other sizes.
    """

    model_config = TABLE

    title: str = ""
    description: str = ""
    workloads: Annotated[tuple[str, ...], Field(min_length=1)]
    baseline: str
    published: str | None = None
    instrument: str = "insn"
    seeds: Annotated[tuple[Annotated[StrictInt, Field(ge=0)], ...], Field(min_length=1)] = (0,)
    repetitions: Annotated[StrictInt, Field(ge=1)] | None = None
    fresh_boot: Annotated[StrictBool, Field(alias="fresh-boot")] = False
    init: Literal["probe", "systemd"] = "probe"
    record: tuple[str, ...] = ()
    timeout: Annotated[StrictInt, Field(ge=1)] | None = None
    scale: dict[str, ScaleTable] = {}
    configuration: tuple[ConfigurationTable, ...] = ()
    base: ControlsTable = ControlsTable()
    axis: tuple[AxisTable, ...] = ()


@dataclass(frozen=True)
class Configuration:
    """One exact state to be measured.

    `levels` are the axes that made it, (axis, level) in the study's order, such as
    `(("rules", "160"), ("catch-all", "on"))`; empty for a configuration written out by itself.
    """

    name: str
    controls: tuple[Control, ...] = ()
    levels: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Workload:
    """What is run, by name, with its parameters in the order in which they were given."""

    name: str
    parameters: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        """Return the name in reports, such as `filecopy concurrency=4`."""
        return " ".join([self.name, *(f"{key}={value}" for key, value in self.parameters)])


@dataclass(frozen=True)
class Setup:
    """How a trial's guest comes to its work, and what watches it.

    `fresh`: it boots for the trial. `init` starts a Debian guest's services. `record` names the
    instruments that ride along, in their order. `whole`: the guest is a whole Debian system,
    whatever the workload needs.
    """

    fresh: bool = False
    init: Literal["probe", "systemd"] = "probe"
    record: tuple[str, ...] = ()
    whole: bool = False


AS_USUAL = Setup()
"""From a snapshot, by the probe, with nothing that rides along."""


@dataclass(frozen=True)
class Study:
    """What to compare, read and checked.

    `name` is as the user gave it, without its folder, with the scale behind it where one was asked
    for. `timeout` is a trial's limit in seconds of host time; None: the usual one.
    """

    name: str
    title: str
    description: str
    workloads: tuple[Workload, ...]
    configurations: tuple[Configuration, ...]
    baseline: str
    published: str | None = None
    instrument: str = "insn"
    seeds: tuple[int, ...] = (0,)
    repetitions: int | None = None
    notes: tuple[str, ...] = ()
    setup: Setup = AS_USUAL
    timeout: int | None = None

"""Studies: the format of the file, and the values read from it.

A study file is TOML:

    title = "What address space randomisation costs"
    workloads = ["syscalls", "syscalls calls=open+stat"]
    baseline = "aslr=0"

    [[configuration]]               # a single state
    name = "audit-off"
    boot = ["audit=0"]

    [base]                          # what every point of the grid has
    audit = { backlog_limit = 8192 }

    [[axis]]                        # the grid: every combination of the axes' levels
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

A point's name is its levels joined by spaces, without those at their axis's default: `aslr=2
catch-all`, or `base` if all are. The grid comes after the configurations, and the first axis varies
fastest. Paths are relative to the file.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, Field, StrictBool, StrictInt

from hardcost.controls.configuration import AS_USUAL, Configuration, Setup
from hardcost.mechanisms.audit import AuditTable
from hardcost.mechanisms.mechanism import TABLE
from hardcost.model.workload import Workload
from hardcost.profiles.control_tables import ControlsTable

NonEmptyName = Annotated[str, Field(pattern=r"^[^\s=]+$")]
"""One word without `=`, since names are composed of such words."""


class AxisAudit(AuditTable):
    """`audit = { … }` of an axis: also one rule, repeated.

    `repeat` is generated once for each of the first `value` numbers from `from` on, which replace
    `{n}` in it: with `from = 70001`, the level 2 has rules for 70001 and 70002.
    """

    repeat: str | None = None
    start: Annotated[StrictInt, Field(alias="from", ge=0)] = 1


class AxisTable(ControlsTable):
    """`[[axis]]`: its levels are `values`, `levels`, or on and off if `switch` is true.

    If `cumulative` is true, each level also has the controls of those before it. In `boot`,
    `sysctl`, `kernel`, `kconfig` and `audit.rules`, `{value}` stands for the level. `default` is
    the level that a configuration's name leaves out; a switch's is off. The controls in this table
    apply at every level but off.

    One axis may be `successive`, such as versions of a kernel: each level is shown beside the one
    before it, and configurations are compared with the baseline's state at their own level.
    """

    name: NonEmptyName
    values: tuple[StrictInt | str, ...] = ()
    switch: StrictBool = False
    levels: dict[str, ControlsTable] = Field(default_factory=dict)
    cumulative: StrictBool = False
    successive: StrictBool = False
    default: StrictInt | str | None = None
    audit: AxisAudit | None = None


class ConfigurationTable(ControlsTable):
    """`[[configuration]]`: a name and the controls that are on.

    A configuration with a `scale` belongs to the study at that scale only.
    """

    name: Annotated[str, Field(min_length=1)]
    scale: str | None = None


class ScaleTable(BaseModel):
    """`[scale.NAME]`: the study at another size, selected by `--scale NAME`.

    `--processors N` selects `processors-N`, if there is one and no other is selected.
    `workloads` and `timeout` replace the study's own; `title` describes the size.
    """

    model_config = TABLE

    title: str = ""
    workloads: Annotated[tuple[str, ...], Field(min_length=1)]
    timeout: Annotated[StrictInt, Field(ge=1)] | None = None


class StudyFile(BaseModel):
    """A study file.

    The `title` defaults to the file's name. `baseline` is the configuration that the others are
    compared with, `asked` the one whose cost the study is about, such as a profile's intended
    state; without it the answer is about the most expensive. `published` names published figures
    to print beside. `seeds` select the memory
    layouts to measure, 0 being the fixed one. `repetitions` are of each trial, under an instrument
    that needs them; `perturbations` is under how many an exact one measures what moves.

    If `fresh-boot` is true, each trial boots instead of resuming from a snapshot. `init` says what
    starts a Debian guest's services, `record` names the recorders. `timeout` is the limit of a
    trial in seconds of this host's time. `scale` are other sizes.
    """

    model_config = TABLE

    title: str = ""
    description: str = ""
    workloads: Annotated[tuple[str, ...], Field(min_length=1)]
    baseline: str
    asked: str | None = None
    published: str | None = None
    instrument: str = "insn"
    seeds: Annotated[tuple[Annotated[StrictInt, Field(ge=0)], ...], Field(min_length=1)] = (0,)
    repetitions: Annotated[StrictInt, Field(ge=1)] | None = None
    perturbations: Annotated[StrictInt, Field(ge=1, le=1000)] | None = None
    fresh_boot: Annotated[StrictBool, Field(alias="fresh-boot")] = False
    init: Literal["probe", "systemd"] = "probe"
    record: tuple[str, ...] = ()
    timeout: Annotated[StrictInt, Field(ge=1)] | None = None
    scale: dict[str, ScaleTable] = {}
    configuration: tuple[ConfigurationTable, ...] = ()
    base: ControlsTable = ControlsTable()
    axis: tuple[AxisTable, ...] = ()


@dataclass(frozen=True)
class Study:
    """A study, read and checked.

    `name` is as the user gave it, without its folder, followed by the scale if one was selected.
    `timeout` is a trial's limit in seconds of host time; None: the usual one. `successive` names
    the axis whose levels are shown one after the other. `asked` is the configuration whose cost the
    study is about, if it names one.
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
    perturbations: int | None = None
    notes: tuple[str, ...] = ()
    setup: Setup = AS_USUAL
    timeout: int | None = None
    successive: str | None = None
    asked: str | None = None

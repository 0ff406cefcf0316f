"""Lists of controls, profiles, workloads, instruments, studies and machines."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter

from hardcost.analysis.study.published import published_figures
from hardcost.controls.control import Control
from hardcost.errors import HardcostError, MachineError
from hardcost.files import own_code
from hardcost.instruments import recorders
from hardcost.instruments.names import INSTRUMENTS
from hardcost.library.price import price_in_short
from hardcost.machines.titles import TITLES
from hardcost.profiles import catalogue
from hardcost.profiles.kernel import options
from hardcost.study.read import study_titles
from hardcost.supply.cache.cache import Cache, digest
from hardcost.supply.packages import debian
from hardcost.units import count
from hardcost.workloads.names import all_workloads
from hardcost.workloads.parameters import parameter_meanings
from hardcost.workloads.syscalls import calls

_FROZEN = ConfigDict(frozen=True)
_PUBLISHED_OPTIONS = "cis-audit-2019"
_KIND = "listings"
_UNKNOWN = "unknown"
_FILE = "controls.json"
_MOST_BYTES = 4 << 20  # of listings in the cache: some ten


class ControlEntry(BaseModel):
    """A control of a profile, with its names in benchmarks, separated by blanks.

    `price` is what it adds to the call that grows most by it, in words; "" where that is not known.
    `share` is the same as a share of that call, None where that is not known.

    Where a profile can't be read here, `mechanism` is `unknown`, and `control` says why.
    """

    model_config = _FROZEN

    profile: str
    mechanism: str
    control: str
    ids: str
    price: str = ""
    share: float | None = None


class ProfileEntry(BaseModel):
    """A profile; `price` says what the dearest of its priced controls adds, "" if it has none."""

    model_config = _FROZEN

    name: str
    title: str
    price: str


class WorkloadEntry(BaseModel):
    """A workload, or a call of the workload syscalls; `parameters` say what each means."""

    model_config = _FROZEN

    name: str
    what: str
    parameters: str

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """The names of its parameters; a call of `syscalls` has none."""
        known = all_workloads().get(self.name)
        return () if known is None else tuple(parameter_meanings(known.parameters))


class TitledEntry(BaseModel):
    """An instrument, a study or a machine."""

    model_config = _FROZEN

    name: str
    title: str


_CONTROLS = TypeAdapter(tuple[ControlEntry, ...])


def titled_entries(what: str) -> tuple[TitledEntry, ...]:
    """Return the instruments, studies or machines."""
    if what == "studies":
        titles = dict(study_titles())
    elif what == "machines":
        titles = dict(TITLES)
    else:
        titles = {one.name: one.title for one in INSTRUMENTS.values()}
        titles |= {name: f"recorder: {title}" for name, title in recorders.TITLES.items()}
    return tuple(TitledEntry(name=name, title=title) for name, title in titles.items())


def profiles(advance: Callable[[], None] = lambda: None) -> tuple[ProfileEntry, ...]:
    """Return the profiles of the catalogue with their prices; see `controls`."""
    of: defaultdict[str, list[ControlEntry]] = defaultdict(list)
    for one in controls(advance):
        of[one.profile].append(one)
    return tuple(
        ProfileEntry(name=name, title=title, price=_dearest(of[name]))
        for name, title in catalogue.titles().items()
    )


def _dearest(controls: Sequence[ControlEntry]) -> str:
    """Return what the dearest of a profile's controls adds, and of how many it is that."""
    unknown = [one.control for one in controls if one.mechanism == _UNKNOWN]
    if unknown:
        return f"No price: {unknown[0]}"
    priced = [one for one in controls if one.share is not None]
    if not priced:
        return ""
    most = max(priced, key=lambda one: one.share or 0.0)
    return f"The dearest of {count(len(priced), 'priced control')} {most.price}"


def workloads() -> tuple[WorkloadEntry, ...]:
    """Return the workloads, and the calls of the workload syscalls."""
    found = []
    for name, kind in all_workloads().items():
        keys = "; ".join(
            f"{key}: {what}" for key, what in parameter_meanings(kind.parameters).items()
        )
        found.append(WorkloadEntry(name=name, what=kind.title, parameters=keys))
    found += [
        WorkloadEntry(name=f"syscalls calls={call.name}", what=call.what, parameters="")
        for call in calls().values()
    ]
    return tuple(found)


def kernel_options() -> Sequence[Mapping[str, str]]:
    """Return the options that the catalogue recommends or that vendors published, with values.

    The keys are `option`, `recommended`, and the names of the vendors.
    """
    figures = published_figures(_PUBLISHED_OPTIONS).kernel_config
    recommended: dict[str, str] = {}
    for entry in options.entries():
        if entry.status != "gone":
            wanted = "unset" if entry.option.value == "n" else entry.option.value  # as published
            recommended.setdefault(entry.option.option, wanted)
    values = {name.removeprefix("CONFIG_"): of for name, of in figures.items()}
    vendors = values.pop("columns")
    unknown = ("",) * len(vendors)
    return [
        {
            "option": option,
            "recommended": recommended.get(option, ""),
            **dict(zip(vendors, values.get(option, unknown), strict=True)),
        }
        for option in sorted({*recommended, *values})
    ]


def number_of_profiles() -> int:
    """Return how many profiles `controls` and `profiles` go through, where none is kept."""
    return len(catalogue.titles())


def controls(advance: Callable[[], None] = lambda: None) -> tuple[ControlEntry, ...]:
    """Return the controls of the catalogue; nothing is fetched for it.

    `advance` hears of each profile that is read. The controls are kept in the cache, since SCAP
    content takes seconds to read: once for each version of hardcost and each set of packages there.
    """
    cache = Cache()
    packages = cache.root / "packages"
    if not packages.is_dir():
        return tuple(_read_controls(cache, advance))
    there = sorted(one.name for one in packages.iterdir())
    name = digest({"code": own_code(), "packages": " ".join(there)})

    def fill(folder: Path) -> None:
        found = [one.model_dump() for one in _read_controls(cache, advance)]
        (folder / _FILE).write_text(json.dumps(found))

    place = cache.make(_KIND, name, "the catalogue's controls", fill)
    cache.make_room(_KIND, _MOST_BYTES)
    return _CONTROLS.validate_json((place / _FILE).read_bytes())


def _read_controls(cache: Cache, advance: Callable[[], None]) -> Iterator[ControlEntry]:
    def at_hand(package: str) -> Path:
        kept = debian.kept_package(cache, package)
        if kept is None:
            raise MachineError(
                f"unknown here: the Debian package {package} is fetched when the profile is billed"
            )
        return kept

    for name in catalogue.titles():
        try:
            profile = catalogue.load(name, at_hand)
        except HardcostError as error:
            yield ControlEntry(profile=name, mechanism=_UNKNOWN, control=str(error), ids="")
        else:
            yield from (_entry(profile.name, control) for control in profile.controls)
        advance()


def _entry(profile: str, control: Control) -> ControlEntry:
    price = price_in_short(control)
    return ControlEntry(
        profile=profile,
        mechanism=type(control).__name__,
        control=control.name,
        ids=" ".join(one for one in control.ids if not one.startswith("SRG-")),
        price="" if price is None else price.text,
        share=None if price is None else price.share,
    )

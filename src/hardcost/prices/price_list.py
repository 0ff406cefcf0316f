"""A price list: what each control was measured to add to each call, on one kernel; and its file.

The file has a line of JSON for each control, after one that says what was measured and how. What a
control adds to a call is not written where it can't be distinguished from nothing. A list that
comes with hardcost was made by `hardcost pricelist build`; nothing in it is written by hand.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import cache
from importlib import resources
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, ValidationError

from hardcost.errors import InputError
from hardcost.model.finding.price import linux_version

_SUFFIX = ".jsonl"
_RECORDS, _WITHIN = "-records", "-within-"  # in the names of lists that are not of prices alone
_STRICT = ConfigDict(extra="forbid", frozen=True, defer_build=True)
_REMEDY = "`hardcost pricelist build` makes a list"

_Line = TypeVar("_Line", bound=BaseModel)

CostInterval = tuple[FiniteFloat, FiniteFloat, FiniteFloat]
"""A cost with its 95 % interval: value, low, high."""

ByMetric = dict[str, dict[str, FiniteFloat]]
"""Numbers by workload and metric."""


class ListHead(BaseModel):
    """What a list was measured on, and when: the first line of its file.

    `environment` has the kernel's release, QEMU's version, the processor model and the guest's
    release, but not the host, which has no part in exact counts. `unit` is that of the numbers;
    `units` are those of workloads with another. `programs` is the digest of what
    measures in the guest. `against` says what each control was added to, in words; where it was a
    guest that records calls, `rule` is its audit rule; where it was the other settings of a
    profile, `within` is its name. `base` has what each call takes without any control, but within a
    profile with all of them, by workload and metric, `least` the cost that can't be distinguished
    from none. `trials` is how many were made.
    """

    model_config = _STRICT

    environment: dict[str, str]
    programs: str
    instrument: str
    unit: str
    units: dict[str, str] = {}
    date: str
    against: str
    rule: str = ""
    within: str = ""
    trials: Annotated[int, Field(ge=1)]
    base: ByMetric
    least: ByMetric = {}


class ListedPrice(BaseModel):
    """What one control adds, in the list's unit: a further line of the file.

    `costs` has by workload and metric what it adds to calls, where that can be distinguished from
    nothing, and to programs. To all other calls that the head has a base of it adds nothing, but
    to what `missing` names by workload. `why` says why
    there is no price. Where `without` names what switched the control off, the control is a
    default, and the costs are what that saved.
    """

    model_config = _STRICT

    control: Annotated[str, Field(min_length=1)]
    without: str | None = None
    costs: dict[str, dict[str, CostInterval]] = {}
    missing: dict[str, str] = {}
    why: str | None = None

    @property
    def metrics(self) -> tuple[tuple[str, str], ...]:
        """The metrics that cost something, each with its workload."""
        return tuple((workload, metric) for workload, of in self.costs.items() for metric in of)


class PriceList(BaseModel):
    """A list: its head, and a price for each control, in the order of the catalogue."""

    model_config = _STRICT

    name: str
    head: ListHead
    prices: tuple[ListedPrice, ...]

    def price_of(self, control: str) -> ListedPrice | None:
        """Return the price of a control by its name."""
        return next((one for one in self.prices if one.control == control), None)

    @property
    def kernel(self) -> str:
        """The kernel's release, such as `6.1.0-57-amd64`."""
        return self.head.environment["kernel"]

    @property
    def version(self) -> str:
        """The version of Linux, such as `6.1`."""
        return linux_version(self.kernel)


def written(found: PriceList) -> str:
    """Return a list as the text of its file."""
    return "".join(f"{line}\n" for line in _lines(found))


def _lines(found: PriceList) -> Iterator[str]:
    yield json.dumps(found.head.model_dump(exclude_defaults=True), ensure_ascii=False)
    for one in found.prices:
        yield json.dumps(one.model_dump(exclude_defaults=True), ensure_ascii=False)


def read(content: bytes, name: str) -> PriceList:
    """Return the list in a file's content.

    Raises:
        InputError: It is damaged; the error names the line.
    """
    lines = content.splitlines()
    if not lines:
        raise InputError(f"{name} is empty, and no price list", hint=_REMEDY)
    head = _parsed(ListHead, lines[0], f"{name}:1")
    if "kernel" not in head.environment:
        raise InputError(f"{name}:1 does not say which kernel was measured", hint=_REMEDY)
    prices = [_parsed(ListedPrice, one, f"{name}:{at}") for at, one in enumerate(lines[1:], 2)]
    for at, one in enumerate(prices, 2):
        for workload, metric in one.metrics:
            if metric not in head.base.get(workload, {}):
                raise InputError(
                    f"{name}:{at} is damaged: the head has no base of {workload} {metric}",
                    hint=_REMEDY,
                )
    twice = [name for name, times in Counter(one.control for one in prices).items() if times > 1]
    if twice:
        raise InputError(f"{name} has {min(twice)} twice", hint=_REMEDY)
    return PriceList(name=name.removesuffix(_SUFFIX), head=head, prices=tuple(prices))


def _parsed(kind: type[_Line], line: bytes, place: str) -> _Line:
    try:
        return kind.model_validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        said = f"{where}: {first['msg']}" if where else first["msg"]
        raise InputError(f"{place} is damaged: {said}", hint=_REMEDY) from None


@cache
def shipped_lists() -> tuple[PriceList, ...]:
    """Return the lists of prices that come with hardcost, those of older kernels first.

    Raises:
        InputError: One is damaged.
    """
    return _shipped("")


@cache
def lists_of_records() -> tuple[PriceList, ...]:
    """Return the lists that say what settings do to audit records, of older kernels first.

    Raises:
        InputError: One is damaged.
    """
    return _shipped(_RECORDS)


@cache
def lists_within() -> tuple[PriceList, ...]:
    """Return the lists of what settings cost within a profile, those of older kernels first.

    Raises:
        InputError: One is damaged.
    """
    return _shipped(_WITHIN)


def _shipped(kind: str) -> tuple[PriceList, ...]:
    """Return the lists with a kind's part in their names; "" is that of those with no such part."""
    folder = Path(str(resources.files("hardcost.prices"))) / "lists"
    files = (
        one
        for one in folder.glob(f"*{_SUFFIX}")
        if next((part for part in (_RECORDS, _WITHIN) if part in one.stem), "") == kind
    )
    ordered = sorted(files, key=lambda file: _version(file.name))
    return tuple(read(file.read_bytes(), file.name) for file in ordered)


def _version(name: str) -> list[int | str]:
    """Return a key that sorts `6.12` behind `6.2`."""
    parts = name.removesuffix(_SUFFIX).replace("-", ".").split(".")
    return [int(part) if part.isdigit() else part for part in parts]

"""Workloads and their metrics by name: `str` makes the text, `workload_of` and `metric_of` read it.

As text they are in the store, in JSON and in reports.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from pydantic_core import CoreSchema

from hardcost.model.document import AsText


@dataclass(frozen=True)
class Workload:
    """A workload by name, with its parameters in the order given."""

    name: str
    parameters: tuple[tuple[str, str], ...] = ()

    def __str__(self) -> str:
        """Return the name in reports, such as `filecopy concurrency=4`."""
        return " ".join([self.name, *(f"{key}={value}" for key, value in self.parameters)])

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> CoreSchema:
        return AsText(workload_of).__get_pydantic_core_schema__()


@dataclass(frozen=True)
class MetricId:
    """A metric by name; `workload` is None where one workload alone was measured."""

    name: str
    workload: Workload | None = None

    def __str__(self) -> str:
        """Return the name in reports: `open`, or with its workload `syscalls open`."""
        return self.name if self.workload is None else f"{self.workload} {self.name}"

    @classmethod
    def __get_pydantic_core_schema__(cls, *_: object) -> CoreSchema:
        return AsText(metric_of).__get_pydantic_core_schema__()


def workload_of(text: str) -> Workload:
    """Return the workload that `text` stands for, as `str` wrote it.

    A word without `=` belongs to what is before it: a path may have spaces.
    """
    name, *words = text.split(" ")
    pairs: list[tuple[str, str]] = []
    for word in words:
        key, separator, value = word.partition("=")
        if separator:
            pairs.append((key, value))
        elif pairs:
            pairs[-1] = (pairs[-1][0], f"{pairs[-1][1]} {word}")
        else:
            name = f"{name} {word}"
    return Workload(name, tuple(pairs))


def metric_of(text: str) -> MetricId:
    """Return the metric that `text` stands for, as `str` wrote it."""
    workload, _, name = text.rpartition(" ")
    return MetricId(name, workload_of(workload)) if workload else MetricId(text)


def metric_among(workloads: Collection[Workload], workload: Workload, name: str) -> MetricId:
    """Return the metric of one of the `workloads` measured, which it names if there are several."""
    return MetricId(name, workload if len(workloads) > 1 else None)

"""The JSON that verbs print: the type of each document, by its command, and their schema."""

from __future__ import annotations

import functools
import json
import operator
from collections.abc import Mapping
from typing import Any

from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from pydantic_core import core_schema

from auditrules.show.cost import CostDocument
from auditrules.show.explain import ExplainDocument
from auditrules.show.fit import FittedDocument
from auditrules.show.lint import LintDocument
from auditrules.show.optimize import OptimizeDocument
from auditrules.show.prove import ProofDocument
from hardcost.cli.console.progress_events import AnyEvent
from hardcost.cli.output.dry_run import PlanDocument
from hardcost.cli.output.several_machines import OnMachines
from hardcost.errors import InputError
from hardcost.library.images import BuiltImage, KeptEntry
from hardcost.library.kernels import CheckedConfiguration, KeptKernel
from hardcost.library.listing import ControlEntry, ProfileEntry, TitledEntry, WorkloadEntry
from hardcost.machines.check import Check
from hardcost.machines.restoration import Restored
from hardcost.model.finding.bill import Bill, Bills
from hardcost.model.finding.calls import Calls
from hardcost.model.finding.choice import Advised
from hardcost.model.finding.comparison import Comparison
from hardcost.model.finding.finding import Finding
from hardcost.model.finding.here import HereFinding
from hardcost.model.finding.here_comparison import HereComparison
from hardcost.model.finding.price import ControlPrices
from hardcost.model.finding.study import StudyFinding
from hardcost.model.finding.trace import Traces
from hardcost.prices.price_list import PriceList
from hardcost.show.gate_document import GateDocument
from hardcost.show.store import CheckedStore, RemovalPlan, RemovedRuns, RunEntry

DOCUMENTS: Mapping[str, Any] = {
    "advise": Advised | PlanDocument,
    "bill": Bill | Bills | PlanDocument,
    "compare": Comparison | HereComparison,
    "doctor": tuple[Check, ...],
    "gate": GateDocument | PlanDocument,
    "image build": BuiltImage,
    "image list": tuple[KeptEntry, ...],
    "kernel build": tuple[KeptKernel, ...],
    "kernel check": CheckedConfiguration,
    "kernel list": tuple[KeptKernel, ...],
    "list controls": tuple[ControlEntry, ...],
    "list instruments": tuple[TitledEntry, ...],
    "list kernel-options": tuple[dict[str, str], ...],
    "list machines": tuple[TitledEntry, ...],
    "list profiles": tuple[ProfileEntry, ...],
    "list runs": tuple[RunEntry, ...],
    "list studies": tuple[TitledEntry, ...],
    "list workloads": tuple[WorkloadEntry, ...],
    "hotspots": Calls | PlanDocument,
    "here": HereFinding,
    "price": ControlPrices,
    "pricelist build": PriceList | PlanDocument,
    "report": Finding,
    "restore": Restored,
    "rules cost": CostDocument | FittedDocument,
    "rules explain": ExplainDocument,
    "rules lint": LintDocument,
    "rules optimize": OptimizeDocument,
    "rules prove": ProofDocument,
    "run": StudyFinding | OnMachines | PlanDocument,
    "runs check": CheckedStore,
    "runs remove": RemovedRuns | RemovalPlan,
    "trace": Traces | PlanDocument,
    "--progress json": AnyEvent,
}
"""By the words of a command: what it prints with `--format json`, also with `--dry-run`.

`--progress json` has verbs print a line for each event, to stderr.
"""


class _Schema(GenerateJsonSchema):
    """Requires each key that is always printed; the names of keys are their titles."""

    schema_dialect = "https://json-schema.org/draft/2020-12/schema"

    def field_is_required(
        self,
        field: core_schema.ModelField | core_schema.DataclassField | core_schema.TypedDictField,
        total: bool,  # noqa: FBT001  (pydantic's)
    ) -> bool:
        """Return whether a key is there whatever its value is."""
        if field["type"] == "model-field" and field["schema"]["type"] == "default":
            kind: str = field["schema"]["schema"]["type"]
            return kind == "literal"  # others are printed only where they are set
        return total and "serialization_exclude_if" not in field

    def field_title_should_be_set(self, _schema: object) -> bool:
        """Return that a key needs no title."""
        return False


def schema(words: str = "") -> str:
    """Return the schema of a command's documents as JSON, of a group's, or of all.

    Raises:
        InputError: There is no such command, or it prints no JSON.
    """
    chosen = [
        of for name, of in DOCUMENTS.items() if not words or f"{name} ".startswith(f"{words} ")
    ]
    if not chosen:
        raise InputError(
            f"there is no schema of '{words}'", hint=f"there are {', '.join(DOCUMENTS)}"
        )
    every: Any = functools.reduce(operator.or_, chosen)
    described = TypeAdapter(every).json_schema(mode="serialization", schema_generator=_Schema)
    described.pop("title", None)  # a class's name
    title = f"JSON of hardcost {words}".rstrip()
    return json.dumps({"$schema": _Schema.schema_dialect, "title": title, **described}, indent=2)

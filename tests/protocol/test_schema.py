"""The probe's half of the protocol and ours have the same fields, of the same types.

The probe's schema is made of its types by `cargo test schema`, which says how it is rewritten.
"""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from hardcost.protocol.answers import ProbeAnswer
from hardcost.protocol.requests import ProbeRequest

PROBES = Path(__file__).parents[2] / "crates/probe/src/protocol/schema.json"
_BITS = {"uint8": 8, "uint16": 16, "uint32": 32, "uint64": 64, "uint": 64}
_SIGNED = {"int32": 32, "int64": 64}


class Schema:
    """A schema as plain values: what a message is known by, its fields, and what each is."""

    def __init__(self, root: dict[str, Any]) -> None:
        self.root = root

    def messages(self, tag: str) -> dict[str, tuple[dict[str, frozenset[str]], set[str]]]:
        """Return each message's fields and which of them there have to be, by name."""
        found = {}
        for one in self.root["oneOf"]:
            whole = self._whole(one)
            fields = dict(whole["properties"])
            (name,) = self._values(fields.pop(tag))
            types = {field: self.type(value) for field, value in fields.items()}
            found[name] = (types, set(whole.get("required", ())) - {tag})
        return found

    def _whole(self, schema: dict[str, Any]) -> dict[str, Any]:
        """Return an object with what it refers to."""
        if "$ref" not in schema:
            return schema
        other = self._whole(self.root["$defs"][schema["$ref"].rpartition("/")[2]])
        return {
            "properties": {**other.get("properties", {}), **schema.get("properties", {})},
            "required": [*other.get("required", ()), *schema.get("required", ())],
        }

    @staticmethod
    def _values(schema: dict[str, Any]) -> tuple[str, ...]:
        return (schema["const"],) if "const" in schema else tuple(schema["enum"])

    def type(self, schema: dict[str, Any]) -> frozenset[str]:
        """Return what a value may be, as words to be compared."""
        several = schema.get("anyOf") or schema.get("oneOf")
        if several is None and isinstance(schema.get("type"), list):
            several = [{**schema, "type": one} for one in schema["type"]]
        if several is not None:
            each = frozenset(word for one in several for word in self.type(one))
            # A number may be written as a whole one.
            return each - {"whole"} if "number" in each else each
        if "const" in schema or "enum" in schema:
            return frozenset(f"'{word}'" for word in self._values(schema))
        if "$ref" in schema:
            return self.type(self.root["$defs"][schema["$ref"].rpartition("/")[2]])
        return frozenset({self._one(schema)})

    def _one(self, schema: dict[str, Any]) -> str:
        match schema["type"]:
            case "object" if "properties" in schema:
                fields = {
                    name: sorted(self.type(one)) for name, one in schema["properties"].items()
                }
                return f"object of {sorted(fields.items())}"
            case "object":
                return f"map to {sorted(self.type(schema['additionalProperties']))}"
            case "array":
                return f"array of {sorted(self.type(schema['items']))}"
            case "integer":
                return self._number(schema)
            case kind:
                return str(kind)

    @staticmethod
    def _number(schema: dict[str, Any]) -> str:
        """Return a whole number's range; what has none is any number."""
        form = schema.get("format")
        if form in _BITS:
            return f"integer from 0 to {2 ** _BITS[form] - 1}"
        if form in _SIGNED:
            most = 2 ** (_SIGNED[form] - 1) - 1
            return f"integer from {-most - 1} to {most}"
        # Where we are stricter than the probe, zero alone is refused.
        least = schema.get("minimum", 0)
        return f"integer from {least} to {schema['maximum']}" if "maximum" in schema else "whole"


def differences(ours: Schema, probes: Schema, tag: str) -> list[str]:
    """Return in what the two differ: a line for each message or field."""
    mine, others = ours.messages(tag), probes.messages(tag)
    found = [f"{name} is known to one alone" for name in mine.keys() ^ others.keys()]
    for name in mine.keys() & others.keys():
        (fields, always), (known, needed) = mine[name], others[name]
        found += [f"{name}.{field} is known to one alone" for field in fields.keys() ^ known.keys()]
        for field in fields.keys() & known.keys():
            # What may be left out is not sent as null.
            nothing = {"null"} if tag == "do" and field not in always else set()
            mine_is, others_is = sorted(fields[field] - nothing), sorted(known[field] - nothing)
            if mine_is != others_is:
                found.append(f"{name}.{field} is {mine_is} to us, and {others_is} to the probe")
        # What reads has to be given what it needs, and what is read has to need what is given.
        missing = needed - always if tag == "do" else needed ^ always
        found += [f"{name}.{field} may be missing" for field in missing]
    return found


def left_out(kind: Any) -> frozenset[str]:  # noqa: ANN401  (a type of request)
    return kind.LEFT_OUT  # type: ignore[no-any-return]


def ours(tag: str) -> Schema:
    if tag == "event":
        return Schema(TypeAdapter(ProbeAnswer).json_schema())
    schema = TypeAdapter(ProbeRequest).json_schema()
    for kind in ProbeRequest.__origin__.__args__:  # type: ignore[attr-defined]
        # All that a request has is sent, but what it leaves out.
        fields = kind.model_fields.keys() - left_out(kind)
        schema["$defs"][kind.__name__]["required"] = sorted(fields)
    return Schema(schema)


def probes(tag: str) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(PROBES.read_text())
    half: dict[str, Any] = whole["requests" if tag == "do" else "answers"]
    return half


@pytest.mark.parametrize("tag", ["do", "event"])
def test_the_probe_and_we_have_the_same_messages_and_fields(tag: str) -> None:
    assert not differences(ours(tag), Schema(probes(tag)), tag)


def field_of(schema: dict[str, Any], message: str) -> dict[str, Any]:
    found: dict[str, Any] = next(
        one for one in schema["oneOf"] if message in json.dumps(one["properties"])
    )
    return found


@pytest.mark.parametrize("tag", ["do", "event"])
@pytest.mark.parametrize("change", ["new", "gone", "type", "message", "optional"])
def test_a_difference_of_one_field_is_found(tag: str, change: str) -> None:
    schema = copy.deepcopy(probes(tag))
    message = "install" if tag == "do" else "installed"
    one = field_of(schema, f'"{message}"')
    match change:
        case "new":
            one["properties"]["more"] = {"type": "string"}
        case "gone":
            del one["properties"]["path"]
        case "type":
            one["properties"]["path"] = {"type": ["string", "null"]}
        case "message":
            schema["oneOf"].remove(one)
        case _:
            one["required"] = ["path", "more"]
    found = differences(ours(tag), Schema(schema), tag)
    assert len(found) == 1 or change in {"gone", "optional"}
    assert all(line.startswith(message) for line in found)
    assert found

"""Every JSON document that the conversations show is as `hardcost schema` says, to the last key."""

from __future__ import annotations

import functools
import json
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from hardcost.cli.output.documents import DOCUMENTS, schema
from hardcost.errors import InputError

TEXTS = sorted((Path(__file__).parents[1] / "verbs").glob("*.txt"))
EVENTS = "--progress json"


def spoken() -> Iterator[tuple[str, str, str]]:
    """Yield each command of the conversations, its stdout and its stderr."""
    for path in TEXTS:
        for one in path.read_text().split("$ hardcost ")[1:]:
            words, _, rest = one.partition("\n")
            parts = {"stdout": "", "stderr": ""}
            for part in rest.split("--- ")[1:]:
                name, _, text = part.partition("\n")
                if name in parts:
                    parts[name] = text
            yield words, parts["stdout"], parts["stderr"]


def printed() -> Iterator[tuple[str, str]]:
    """Yield the words of each command that printed a JSON document, and the document."""
    for words, out, error in spoken():
        if "--format json" in words:
            for text in (out, error):
                if text.startswith(("{\n", "[\n", "[]\n")):
                    yield words, text


def command_of(words: str) -> str:
    """Return the verb, or the group and the verb, of a command's words; "" if it has no schema."""
    first, second, *_ = (*shlex.split(words), "")
    return next((name for name in (f"{first} {second}", first) if name in DOCUMENTS), "")


def strict(part: Any) -> Any:  # noqa: ANN401  (any part of a schema)
    """Return a schema by which no object may have a key that is not described."""
    if isinstance(part, list):
        return [strict(one) for one in part]
    if not isinstance(part, dict):
        return part
    own = {key: strict(value) for key, value in part.items()}
    return own | {"additionalProperties": False} if "properties" in part else own


@functools.cache
def validator(words: str) -> Draft202012Validator:
    return Draft202012Validator(strict(json.loads(schema(words))))


def test_conversations_show_json_of_most_commands() -> None:
    assert len({command_of(words) for words, _ in printed()}) >= 20


@pytest.mark.parametrize(("words", "text"), tuple(printed()))
def test_what_is_printed_is_described(words: str, text: str) -> None:
    shown, _ = json.JSONDecoder().raw_decode(text)
    name = command_of(words)
    assert name, f"{words}: there is no schema of what it prints"
    for by in (validator(name), validator("")):
        assert not [error.message[:300] for error in by.iter_errors(shown)]


def test_lines_of_progress_are_described() -> None:
    events = [
        json.loads(line)
        for words, _, error in spoken()
        if EVENTS in words
        for line in error.splitlines()
        if line.startswith("{")
    ]
    assert events
    for event in events:
        assert not [error.message[:300] for error in validator(EVENTS).iter_errors(event)]


@pytest.mark.parametrize("words", ["", "rules", *DOCUMENTS])
def test_a_schema_is_one_and_says_of_what(words: str) -> None:
    found = json.loads(schema(words))
    Draft202012Validator.check_schema(found)
    assert found["title"] == f"JSON of hardcost {words}".rstrip()


def test_a_document_that_lacks_a_key_is_none() -> None:
    text = next(text for words, text in printed() if words.startswith("bill"))
    shown = json.loads(text)
    open_to_keys = Draft202012Validator(json.loads(schema()))
    assert open_to_keys.is_valid(shown | {"later": 1})
    assert not open_to_keys.is_valid({key: shown[key] for key in shown if key != "totals"})


@pytest.mark.parametrize("words", ["nosuch", "rule", "rules nosuch", "schema"])
def test_what_prints_no_json_has_no_schema(words: str) -> None:
    with pytest.raises(InputError, match=f"no schema of '{words}'"):
        schema(words)

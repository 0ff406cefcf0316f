"""Hotspots as pprof's protocol buffer, packed: each sample has the values before and after.

Source of the format: pprof's proto/profile.proto, and the encoding of protocol buffers.
"""

from __future__ import annotations

import gzip
from collections.abc import Iterable, Iterator, Sequence

from hardcost.model.finding.calls import Calls, Hotspots
from hardcost.show.exports.export import Export
from hardcost.show.exports.stacks import ExportedStacks, exported_stacks

_VARINT, _BYTES = 0, 2  # wire types of protocol buffers: a number; length and content
# Numbers of the fields of `Profile` in profile.proto.
_SAMPLE_TYPE, _SAMPLE, _LOCATION, _FUNCTION, _TEXTS, _DEFAULT_TYPE = 1, 2, 4, 5, 6, 14
_METRIC = "metric"

_Field = tuple[int, int | bytes]


def pprof(profiles: Sequence[Hotspots]) -> bytes:
    """Return the packed message, the same bytes for the same counts; a label names the metric."""
    texts: dict[str, int] = {"": 0}
    functions: dict[str, int] = {}
    metrics = exported_stacks(profiles)
    samples = [sample for one in metrics for sample in _samples(one, functions, texts)]
    unit = _text("/".join(sorted({one.unit for one in metrics})), texts)
    types = [_message((1, _text(side, texts)), (2, unit)) for side in ("before", "after")]
    numbers = functions.values()
    parts: list[_Field] = [
        *((_SAMPLE_TYPE, one) for one in types),
        *((_SAMPLE, one) for one in samples),
        *((_LOCATION, _message((1, number), (4, _message((1, number))))) for number in numbers),
        *(
            (_FUNCTION, _message((1, number), (2, _text(name, texts))))
            for name, number in functions.items()
        ),
        (_DEFAULT_TYPE, _text("after", texts)),
    ]
    body = _message(*parts, *((_TEXTS, text.encode()) for text in texts))
    return gzip.compress(body, mtime=0)


def _samples(
    one: ExportedStacks, functions: dict[str, int], texts: dict[str, int]
) -> Iterator[bytes]:
    """Yield a metric's stacks; a function is numbered by its name, and so is its only place."""
    label = _message((1, _text(_METRIC, texts)), (2, _text(one.title, texts)))
    for names, before, after in one.stacks:
        places = [functions.setdefault(name, len(functions) + 1) for name in reversed(names)]
        yield _message((1, _pack_varints(places)), (2, _pack_varints([before, after])), (3, label))


def _text(text: str, texts: dict[str, int]) -> int:
    return texts.setdefault(text, len(texts))


def _message(*fields: _Field) -> bytes:
    """Return a message of fields, each a number or bytes, in their order."""
    found = b""
    for number, value in fields:
        if isinstance(value, int):
            found += _varint(number << 3 | _VARINT) + _varint(value)
        else:
            found += _varint(number << 3 | _BYTES) + _varint(len(value)) + value
    return found


def _pack_varints(values: Iterable[int]) -> bytes:
    return b"".join(map(_varint, values))


def _varint(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:  # noqa: PLR2004  (what seven bits hold)
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


PPROF = Export[Calls]("pprof", lambda found: pprof(found.hotspots))

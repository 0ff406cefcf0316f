"""The journal of changes to a machine: what was there, written before it is changed.

It is a file to which lines are only ever appended. Each holds one entry as JSON, behind a hash of
the line before it and of its own text. So a line that was cut off while it was written is
distinguishable from an edited one. The former is the last, and its change has not been made yet.
The latter is refused, since undoing by it could damage the machine.

The keeper (`crates/keeper`) writes it, on the machine; hardcost keeps the same lines here.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from auditrules.model.location import Location
from hardcost.errors import MachineError

MOST_BYTES = 64 << 20
"""The largest journal that is read."""

_HASH_LENGTH = 64  # hexadecimal digits of SHA-256
_FIRST = "0" * _HASH_LENGTH  # stands for the line before the first
_REMEDY = (
    "nothing was undone: compare the machine with the journal by hand, then remove the file; it"
    " holds what each thing was before"
)

EntryKind = Literal[
    "file", "setting", "audit-rules", "audit-state", "security-module", "service", "mount", "boot"
]
"""What is changed: a file, a sysctl, the kernel's audit rules in their order, audit's state (`-e`,
`-f`, backlog), SELinux's mode, a unit's state, a mount's options, a boot loader's entry."""

_Name = Annotated[str, Field(min_length=1, max_length=4096)]


class _Entry(BaseModel):
    model_config = ConfigDict(
        frozen=True, extra="forbid", ser_json_bytes="base64", val_json_bytes="base64"
    )


class Begin(_Entry):
    """The first entry: on which machine and in which boot changes are made, and for which run.

    `desk` names the keeper's folder there, and `number` counts its journals, so that the machine
    knows which are finished. `token` is in the names of files while they are written. The first
    version had none of them.
    """

    entry: Literal["begin"] = "begin"
    version: Literal[1, 2] = 2
    machine: _Name
    boot: _Name
    run: _Name
    desk: _Name | None = None
    number: Annotated[int, Field(ge=0, lt=1 << 64)] | None = None
    token: _Name | None = None


class JournalChange(_Entry):
    """The state of something before it is changed; `before` None: it was not there.

    `name` is a path, key or unit. `owner`, `group`, `mode` and `labels` (extended attributes, such
    as SELinux's) are a file's. `wanted` is what it is going to be, where that is known before.
    """

    entry: Literal["change"] = "change"
    kind: EntryKind
    name: _Name
    before: bytes | None
    owner: Annotated[int, Field(ge=0, lt=1 << 32)] | None = None
    group: Annotated[int, Field(ge=0, lt=1 << 32)] | None = None
    mode: Annotated[int, Field(ge=0, le=0o7777)] | None = None
    labels: dict[_Name, bytes] = {}
    wanted: bytes | None = None


class Making(_Entry):
    """A change is begun: until now nothing was written. The first version did not say so."""

    entry: Literal["making"] = "making"
    number: Annotated[int, Field(ge=0)]


class MadeEntry(_Entry):
    """A change was made: what the thing is then; None: it is not there."""

    entry: Literal["made"] = "made"
    number: Annotated[int, Field(ge=0)]
    after: bytes | None
    owner: Annotated[int, Field(ge=0, lt=1 << 32)] | None = None
    group: Annotated[int, Field(ge=0, lt=1 << 32)] | None = None
    mode: Annotated[int, Field(ge=0, le=0o7777)] | None = None
    labels: dict[_Name, bytes] = {}


class LeftEntry(_Entry):
    """Others have changed a thing since: it is theirs, and is left as it is."""

    entry: Literal["left"] = "left"
    number: Annotated[int, Field(ge=0)]


class Adopted(_Entry):
    """The machine had lost the journal, and took this one over from where it was kept."""

    entry: Literal["adopted"] = "adopted"


class Undone(_Entry):
    """A change is undone, and was seen to be: `number` counts the journal's changes from 0."""

    entry: Literal["undone"] = "undone"
    number: Annotated[int, Field(ge=0)]


Entry = Begin | JournalChange | Making | MadeEntry | LeftEntry | Adopted | Undone
"""Whatever a line holds."""

_ENTRY: TypeAdapter[Entry] = TypeAdapter(Annotated[Entry, Field(discriminator="entry")])


@dataclass(frozen=True)
class Journal:
    """A journal that was read; `torn`: its last line was cut off, and is not among the entries.

    `size` is how many bytes are whole: what is appended next goes there.
    """

    entries: tuple[Entry, ...] = ()
    last: str = _FIRST
    size: int = 0
    torn: bool = False

    @property
    def changes(self) -> tuple[JournalChange, ...]:
        """Return all changes, in their order."""
        return tuple(one for one in self.entries if isinstance(one, JournalChange))

    @property
    def pending(self) -> tuple[tuple[int, JournalChange], ...]:
        """Return the changes that are to be undone with their numbers, the newest first."""
        undone = {one.number for one in self.entries if isinstance(one, Undone)}
        every = list(enumerate(self.changes))
        return tuple((number, one) for number, one in reversed(every) if number not in undone)

    def line(self, entry: Entry) -> bytes:
        """Return the line to append for an entry.

        Raises:
            ValueError: It does not follow from what the journal has.
        """
        _check(self, entry)
        text = json.dumps(entry.model_dump(mode="json"), sort_keys=True, ensure_ascii=True)
        return f"{_chain_hash(self.last, text)} {text}\n".encode()


def read(content: bytes, file: str) -> Journal:
    """Return the journal in a file's content; `file` is its name in errors.

    Raises:
        MachineError: It is too large, damaged, or none.
    """
    return extend_journal(Journal(), content, file)


def extend_journal(journal: Journal, content: bytes, file: str) -> Journal:
    """Return a journal with what was appended to its file.

    Raises:
        MachineError: It is too large then, or what was appended does not continue it.
    """
    if journal.size + len(content) > MOST_BYTES:
        raise _damage_error(file, None, f"is larger than {MOST_BYTES >> 20} MiB")
    *whole, rest = content.split(b"\n")
    for number, line in enumerate(whole, len(journal.entries) + 1):
        journal = _with(journal, line, file, number)
    return Journal(journal.entries, journal.last, journal.size, torn=bool(rest))


def _with(journal: Journal, line: bytes, file: str, number: int) -> Journal:
    """Return a journal with one more line."""
    try:
        text = line.decode("ascii")
        hashed, _, body = text.partition(" ")
        if hashed != _chain_hash(journal.last, body):
            raise _damage_error(file, number, "was changed, or a line before it")
        entry = _ENTRY.validate_json(body)
        _check(journal, entry)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = ".".join(map(str, first["loc"]))[:80]
        raise _damage_error(file, number, f"has a wrong field, {place}: {first['msg']}") from None
    except UnicodeDecodeError:
        raise _damage_error(file, number, "is no text") from None
    except ValueError as error:
        raise _damage_error(file, number, str(error)) from None
    size = journal.size + len(line) + 1
    return Journal((*journal.entries, entry), hashed, size)


def _check(journal: Journal, entry: Entry) -> None:
    """Check that an entry may follow."""
    if isinstance(entry, Begin) != (not journal.entries):
        raise ValueError("begins a journal in the middle, or does not begin one")
    if isinstance(entry, Begin | JournalChange | Adopted):
        return
    if entry.number not in {at for at, _ in journal.pending}:
        raise ValueError(f"says that change {entry.number} is {entry.entry}, which is not pending")


def _chain_hash(last: str, text: str) -> str:
    return hashlib.sha256(f"{last} {text}".encode()).hexdigest()


def _damage_error(file: str, line: int | None, why: str) -> MachineError:
    return MachineError(f"the journal of changes {why}", place=Location(file, line), hint=_REMEDY)

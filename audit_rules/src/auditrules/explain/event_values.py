"""The values in a call's description. An invalid one raises `WordError`."""

from __future__ import annotations

import re

from auditrules.kernel.event import FORMAT
from auditrules.model.kernel_rule import UNSET
from auditrules.tables import lookup

ELSEWHERE = "(elsewhere)"
"""The path of a file that no rule's path or tree holds; each mention is another file."""


class WordError(Exception):
    """A word can't be read, or contradicts others."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(message)
        self.message, self.remedy = message, remedy


def path(value: str) -> str:
    """Return a whole path without a slash at its end."""
    if value in {"", ELSEWHERE}:
        return value
    if not value.startswith("/") or "/../" in f"{value}/":
        raise WordError(f"{value!r} is not an absolute path", "begin it with / and write no ..")
    return value.rstrip("/") or "/"


def number(name: str, value: str) -> int:
    """Return a number, decimal or hexadecimal."""
    if not re.fullmatch(r"0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20}", value):
        raise WordError(f"{name}={value} is not a number", f"write, for example, {name}=0")
    return int(value, 16 if value[:2] in {"0x", "0X"} else 10)


def an_id(name: str, value: str) -> int:
    """Return the number of a user, a group or a session."""
    if value in {"unset", "-1"} and name in {"auid", "sessionid"}:
        return UNSET
    if value == "root":
        return 0
    if not value.isdecimal():
        raise WordError(f"{name}={value} is not a number", "write the user's or group's number")
    found = number(name, value)
    if found > UNSET:
        raise WordError(f"{name}={value} is too large", f"the largest is {UNSET}")
    return found


def yes_or_no(name: str, value: str) -> int:
    """Return 1 for yes, 0 for no."""
    if value not in {"yes", "no", "1", "0"}:
        raise WordError(f"{name}={value} is neither yes nor no", f"write {name}=yes or {name}=no")
    return int(value in {"yes", "1"})


def exit_value(text: str) -> int:
    """Return the value that a call returned, from a number or the name of an error."""
    found = re.fullmatch(r"(-?)(E[A-Z0-9]+)", text)
    if found and found[2] in lookup.errors():
        return -lookup.errors()[found[2]] if found[1] else lookup.errors()[found[2]]
    if not re.fullmatch(r"-?[0-9]{1,19}", text):
        raise WordError(
            f"exit={text} is not a result", "write, for example, exit=0, exit=-13 or exit=-EACCES"
        )
    return int(text)


def file_type(name: str, value: str) -> int:
    """Return the file type's bits of a mode, of a name or a number."""
    if value[:1].isdecimal():
        return number(name, value) & FORMAT
    if value not in lookup.FILE_TYPES:
        raise WordError(
            f"there is no {name} {value!r}", f"there are {', '.join(lookup.FILE_TYPES)}"
        )
    return lookup.FILE_TYPES[value]


def file_system(name: str, value: str) -> int:
    """Return the magic number of a file system."""
    return lookup.FILE_SYSTEMS[value] if value in lookup.FILE_SYSTEMS else number(name, value)

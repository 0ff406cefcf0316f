"""Fields and values in rules as auditctl 3.0.9 reads them: names and numbers of all kinds.

An invalid one raises `RefusedError` with a remedy.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType

from auditrules.model.kernel_rule import PERMISSIONS, UNSET, Operator
from auditrules.tables import lookup
from auditrules.tables.lookup import Arch

LONGEST_PATH = 4096  # PATH_MAX, which counts the byte that ends it
LONGEST_NAME = 255
"""Bytes of a path, and of the name at its end (linux/limits.h)."""


class RefusedError(Exception):
    """The rule can't be loaded because of the current option."""

    def __init__(self, message: str, remedy: str | None = None) -> None:
        super().__init__(message)
        self.message, self.remedy = message, remedy


class ElsewhereError(RefusedError):
    """The rule is for another architecture than x86_64, so it is not checked."""


# Fields -----------------------------------------------------------------------------------------

ALIASES = {"loginuid": "auid"}
USERS = frozenset({"uid", "euid", "suid", "fsuid", "auid", "obj_uid"})
GROUPS = frozenset({"gid", "egid", "sgid", "fsgid", "obj_gid"})
SUBJECT = frozenset({"subj_user", "subj_role", "subj_type", "subj_sen", "subj_clr"})
OBJECT = frozenset({"obj_user", "obj_role", "obj_type", "obj_lev_low", "obj_lev_high"})
TEXTS = frozenset({"path", "dir", "exe", "key"}) | SUBJECT | OBJECT
ARGUMENTS = frozenset({"a0", "a1", "a2", "a3"})
FIELDS = (
    frozenset({
        "pid", "pers", "arch", "msgtype", "ppid", "sessionid", "devmajor", "devminor", "inode",
        "exit", "success", "perm", "filetype", "fstype", "saddr_fam", "loginuid",
        "field_compare",
    })
    | USERS | GROUPS | TEXTS | ARGUMENTS
)  # fmt: skip
EXIT_ONLY = OBJECT | {
    "exit", "path", "dir", "perm", "filetype", "devmajor", "devminor", "inode", "success", "ppid",
}  # fmt: skip
EXCLUDABLE = SUBJECT | {"pid", "uid", "gid", "auid", "msgtype", "exe"}
OF_A_TASK = frozenset({
    "pid", "uid", "euid", "suid", "fsuid", "gid", "egid", "sgid", "fsgid", "auid", "loginuid_set",
    "sessionid", "pers", "exe", "subj_user", "subj_role", "subj_type", "subj_sen", "subj_clr",
    "key",
})  # fmt: skip
"""What can be asked of a task that is being made: it has no call yet, and whatever asks for one
does not hold. The rule's key is no condition."""

OF_A_RECORD = frozenset({
    "pid", "uid", "gid", "auid", "loginuid_set", "msgtype", "exe", "subj_user", "subj_role",
    "subj_type", "subj_sen", "subj_clr",
})  # fmt: skip
"""What can be asked when a record is to be written. Any other field, the key among them, ends the
walk, and the record is written."""

EQUAL_ONLY = frozenset({"path", "dir", "perm"})
EQUAL_OR_NOT = frozenset({
    "arch", "exe", "inode", "filetype", "fstype", "loginuid_set", "key", "subj_user", "subj_role",
    "subj_type", "obj_user", "obj_role", "obj_type",
})  # fmt: skip
BIT_FIELDS = ARGUMENTS | {"pers", "devminor"}

_AF_MAX = 46  # linux/socket.h

ARCHES: Mapping[str, Arch] = MappingProxyType({
    "b64": "b64", "x86_64": "b64", "b32": "b32", "i386": "b32", "i486": "b32", "i586": "b32",
    "i686": "b32",
})  # fmt: skip
OTHER_ARCHES: Mapping[str, int] = MappingProxyType({
    "aarch64": 0xC00000B7, "arm": 0x40000028, "armeb": 0x28, "ia64": 0xC0000032,
    "loongarch64": 0xC0000102, "ppc": 0x14, "ppc64": 0x80000015, "ppc64le": 0xC0000015,
    "riscv64": 0xC00000F3, "s390": 0x16, "s390x": 0x80000016,
})  # fmt: skip
"""Other architectures' names for auditctl, and their numbers (linux/audit.h)."""

_DIGITS = frozenset("0123456789")
_C_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|0[0-7]*|[1-9][0-9]*")
_LONGEST_DECIMAL = 25  # digits; any number with more is beyond 64 bits
_UNLIKE = 5  # more different letters than this, or a larger difference in length: not similar
_LONGEST_GUESS = 40  # characters of a word for which similar ones are searched


def fold_case(text: str) -> str:
    """Return text in lower case where auditctl sees no difference: in the letters of ASCII."""
    return text.lower() if text.isascii() else text


def arch_of(text: str) -> Arch:
    """Return the ABI that a value of `arch` means on x86_64.

    Raises:
        ElsewhereError: It is another architecture's.
        RefusedError: auditctl does not know the architecture.
    """
    name = fold_case(text)
    if name in ARCHES:
        return ARCHES[name]
    if text[:1] in _DIGITS:
        number = read_unsigned(text)
    else:
        found = re.match(r"[0-9a-fA-F]+", text)
        number = int(found[0][:17], 16) & UNSET if found else 0
    for arch, own in lookup.ARCH_NUMBERS.items():
        if number == own:
            return arch
    if name in OTHER_ARCHES or number in OTHER_ARCHES.values():
        raise ElsewhereError(
            f"not checked: arch={text} is another architecture than x86-64",
            "check it on such a machine, and leave it out of the rules for x86-64",
        )
    raise RefusedError(
        f"there is no architecture {text!r} on x86_64",
        nearest([name], ARCHES) or "write arch=b64 or arch=b32",
    )


def split_field(value: str) -> tuple[str, Operator, str]:
    """Split at an operator as auditctl does: those of two characters first, wherever they stand."""
    for operator in ("!=", ">=", "<=", "&=", "=", ">", "<", "&"):
        at = value.find(operator)
        if at > 0:
            return value[:at], Operator(operator), value[at + len(operator) :]
        if at == 0:
            break
    raise RefusedError(f"{value!r} has no field and operator", "write, for example, auid>=1000")


NEVER_CALLS = {
    "fini_module": "delete_module unloads a module; finit_module loads one from an open file",
}
"""Names that published rules use but that no version of Linux has had."""


def call_number(name: str, arch: Arch) -> int:
    """Return the bit of a rule's mask for a call's name or number."""
    known = lookup.calls(arch)
    number = known.get(name, known.get(fold_case(name)))
    if number is None and name[:1] in _DIGITS:
        number = read_signed(name)
    if number is not None and number < 2048:  # noqa: PLR2004  (the mask's bits)
        return number
    newer = lookup.newer_calls().get(fold_case(name))
    if newer is not None:
        raise RefusedError(
            f"auditctl 3.0.9 does not know the system call {name!r}, which is newer",
            f"write its number, {newer}",
        )
    other: Arch = "b32" if arch == "b64" else "b64"
    if name in NEVER_CALLS:
        remedy = NEVER_CALLS[name]
    elif name in lookup.calls(other):
        remedy = f"{other} has it and {arch} has not: write it under arch={other} alone"
    else:
        remedy = nearest([name], known) or "`ausyscall --dump` lists the names"
    raise RefusedError(f"{arch} has no system call {name!r}", remedy)


def permissions(text: str) -> int:
    """Return the number of letters such as `wa`."""
    if len(text.encode(errors="replace")) > len(PERMISSIONS):
        raise RefusedError(f"the permissions {text!r} are too long", "use r, w, x and a, each once")
    wrong = [letter for letter in text if fold_case(letter) not in PERMISSIONS]
    if wrong:
        raise RefusedError(f"there is no permission {wrong[0]!r}", "the letters are r, w, x and a")
    number = 0
    for letter in text:
        number |= PERMISSIONS[fold_case(letter)]
    return number


# Numbers ----------------------------------------------------------------------------------------


def read_unsigned(text: str) -> int:
    """Return the low 32 bits of C's strtoul of a text that begins with a digit."""
    return min(_read_number(text), (1 << 64) - 1) & UNSET


def read_signed(text: str) -> int:
    """Return the low 32 bits of C's strtol of a text that begins with a digit or -."""
    number = _read_number(text.removeprefix("-"))
    if text.startswith("-"):
        return -min(number, 1 << 63) & UNSET
    return min(number, (1 << 63) - 1) & UNSET


def _read_number(text: str) -> int:
    """Return the number at the start of a text: hexadecimal after 0x, octal after 0."""
    found = _C_NUMBER.match(text)
    digits = found[0] if found else "0"
    if digits[:2] in {"0x", "0X"}:
        return int(digits, 16)
    if digits.startswith("0"):
        return int(digits, 8)
    return int(digits[:_LONGEST_DECIMAL])


def _is_negative(text: str) -> bool:
    return text.startswith("-") and text[1:2] in _DIGITS


def number_of(text: str) -> int:
    """Return the value of a field that takes nothing but a number."""
    if text[:1] not in _DIGITS:
        raise RefusedError(f"{text!r} is not a number", "write a number")
    return read_signed(text)


def _inode(text: str) -> int:
    return read_unsigned(text) if text[:1] in _DIGITS else number_of(text)


def _argument(text: str) -> int:
    if text[:1] in _DIGITS:
        return read_unsigned(text)
    if not _is_negative(text):
        raise RefusedError(f"{text!r} is not a number", "write a number")
    return read_signed(text)


def _session(text: str) -> int:
    if text == "unset":
        return UNSET
    # Anything else counts as 0, without a message.
    return _argument(text) if text[:1] in _DIGITS or _is_negative(text) else 0


def user(text: str, users: Mapping[str, int]) -> int | str:
    """Return a user's number, or the name that only the target can resolve."""
    if text == "unset":
        return UNSET
    if text[:1] in _DIGITS or _is_negative(text):
        return _argument(text)
    _check_name(text, "user")
    return users.get(text, text)


def group(text: str, groups: Mapping[str, int]) -> int | str:
    """Return a group's number, or the name that only the target can resolve."""
    if text[:1] in _DIGITS:
        return read_signed(text)
    if text not in groups and (text == "unset" or _is_negative(text)):
        raise RefusedError(f"there is no group {text!r}", "write a name, or a number from 0")
    _check_name(text, "group")
    return groups.get(text, text)


def _check_name(text: str, what: str) -> None:
    if text[0] in "=!<>&-" or ":" in text:
        raise RefusedError(f"{text!r} is not the name of a {what}", "write a name or a number")


# Names ------------------------------------------------------------------------------------------


def _exit_code(text: str) -> int:
    if text[:1] in _DIGITS or _is_negative(text):
        return read_signed(text)
    name = text.removeprefix("-")
    number = lookup.errors().get(fold_case(name).upper())
    if number is None:
        raise RefusedError(
            f"there is no error {name!r}",
            nearest([name], lookup.errors()) or "name it as errno(3) does: exit=-EACCES",
        )
    return (-number if text.startswith("-") else number) & UNSET


def _record_type(text: str) -> int:
    if text[:1] in _DIGITS:
        return read_signed(text)
    number = lookup.records().get(fold_case(text).upper())
    if number is None:
        raise RefusedError(
            f"there is no record type {text!r}",
            nearest([text], lookup.records()) or "auditctl(8) says what msgtype takes",
        )
    return number


def _file_type(text: str) -> int:
    number = lookup.FILE_TYPES.get(fold_case(text))
    if number is None:
        raise RefusedError(
            f"there is no file type {text!r}", f"there are {', '.join(lookup.FILE_TYPES)}"
        )
    return number


def _file_system(text: str) -> int:
    number = (
        read_unsigned(text) if text[:1] in _DIGITS else lookup.FILE_SYSTEMS.get(fold_case(text))
    )
    if number is None or number == UNSET:
        raise RefusedError(
            f"there is no file system {text!r}",
            f"there are {', '.join(lookup.FILE_SYSTEMS)}, and numbers",
        )
    return number


def _family(text: str) -> int:
    bare = text.lstrip(" ").removeprefix("+")
    number = _AF_MAX if _is_negative(bare) else 0
    if bare[:1] in _DIGITS:
        number = read_unsigned(bare)
    if number >= _AF_MAX:
        raise RefusedError(f"{text} is not an address family", f"the largest is {_AF_MAX - 1}")
    return number


READERS: Mapping[str, Callable[[str], int]] = MappingProxyType({
    "exit": _exit_code, "msgtype": _record_type, "filetype": _file_type, "fstype": _file_system,
    "perm": permissions, "sessionid": _session, "saddr_fam": _family, "inode": _inode,
    **dict.fromkeys(ARGUMENTS, _argument),
})  # fmt: skip
"""The readers of fields whose value is not a plain number, user, group or text."""


def check_path(path: str) -> None:
    """Check a path as auditctl and the kernel do, except whether it exists."""
    if not path.startswith("/"):
        raise RefusedError(f"the path {path!r} does not begin with /", "write the whole path")
    if len(path.encode(errors="surrogateescape")) >= LONGEST_PATH:
        raise RefusedError("the path is too long", f"{LONGEST_PATH - 1} bytes are allowed")
    name = path.rstrip("/").rpartition("/")[2]
    if len(name.encode(errors="surrogateescape")) > LONGEST_NAME:
        raise RefusedError("the path's last name is too long", f"{LONGEST_NAME} bytes are allowed")


def nearest(
    words: Sequence[str], known: Mapping[str, object] | Sequence[str] | frozenset[str]
) -> str | None:
    """Return a question after the known word that is closest to one of these."""
    for word in words:
        close = _closest(word[:_LONGEST_GUESS], tuple(known))
        if close:
            return f"did you mean {close}?"
    return None


@lru_cache(maxsize=1024)
def _closest(word: str, known: tuple[str, ...]) -> str | None:
    """Return the known word that is closest, by difflib's measure, where one is close at all."""
    letters = _letters(word)
    likely = [
        name
        for name, theirs in _with_letters(known)
        if abs(len(name) - len(word)) < _UNLIKE and (letters ^ theirs).bit_count() < _UNLIKE
    ]
    close = difflib.get_close_matches(word, likely, n=1)
    return close[0] if close else None


@lru_cache(maxsize=16)
def _with_letters(known: tuple[str, ...]) -> tuple[tuple[str, int], ...]:
    return tuple((name, _letters(name)) for name in known)


def _letters(word: str) -> int:
    """Return which characters a word has, as bits."""
    bits = 0
    for letter in word:
        bits |= 1 << (ord(letter) & 63)
    return bits

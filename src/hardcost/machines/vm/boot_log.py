"""How a kernel treats the words on its command line, according to its boot log.

The kernel passes an unknown word to process 1, as an argument or in its environment. It logs a
complaint about an unknown value. A name with a dot belongs to a module, and the kernel says nothing
about it if that module is not loaded.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Protocol

from hardcost.protocol.boot import WordVerdict

# Names that 6.1 looks up in the line by itself, and so also counts among the unknown.
# Source: callers of cmdline_find_option in arch/x86 of Linux 6.1 to 6.12.
_READ_APART = frozenset(
    {
        *("clearcpuid", "dis_ucode_ldr", "earlyprintk", "fred", "mem_encrypt", "no387", "no5lvl"),
        *("nofxsr", "nokaslr", "nopti", "nospec_store_bypass_disable", "nospectre_v2", "noxsave"),
        *("noxsaveopt", "noxsaves", "pti", "setcpuid", "spec_store_bypass_disable", "spectre_v2"),
        *("spectre_v2_user", "split_lock_detect", "tsx"),
    }
)
OWN = "hardcost."
_COMMON = frozenset({"", "on", "off", "yes", "no", "auto", "force", "full"})  # too generic alone
_COMPLAINT = re.compile(
    r"unknown|unsupported|unrecogni[sz]ed|invalid|malformed|cannot parse|ignor(?:ed|ing)"
    r"|failed to set|too large",
    re.IGNORECASE,
)
_LINE_ITSELF = re.compile(r"[Cc]ommand line(?: parameters)?\b")
_STAMP = re.compile(r"^\[ *\d+\.\d+\] ")


class KnownParameters(Protocol):
    """A kernel's known parameters; `machines.qemu.parameters.Parameters` is an implementation."""

    def may_know(self, name: str) -> bool:
        """Say whether the image holds a string of that name."""

    def has_module(self, name: str) -> bool | None:
        """Say whether there is a module of that name; None: the modules are unknown."""

    def of_module(self, name: str) -> frozenset[str] | None:
        """Return the parameters of a module; None: it can't be read."""

    def built_in(self, module: str) -> bool:
        """Say whether the image holds a parameter of that module."""

    def close_to(self, name: str) -> str | None:
        """Return the name that was probably meant."""


def log_lines(console: str) -> tuple[str, ...]:
    """Return the kernel's messages in a console log, without their time stamps."""
    return tuple(_STAMP.sub("", line.strip()) for line in console.splitlines() if line.strip())


def verdicts(
    words: Iterable[str],
    passed_on: Iterable[str],
    log: Sequence[str],
    known: KnownParameters,
    *,
    whole_system: bool = False,
) -> tuple[WordVerdict, ...]:
    """Return the problems of `words`, in their order.

    `passed_on` are the words that process 1 received, `log` the kernel's messages. In a
    `whole_system` systemd reads words of its own.
    """
    names = {word.partition("=")[0] for word in passed_on}
    complaints = [line for line in log if _COMPLAINT.search(line) and not _LINE_ITSELF.search(line)]
    every = tuple(words)
    found = []
    for word in every:
        complaint = _complaint(word, every, complaints)
        if complaint is not None and not word.startswith(OWN):
            verdict: WordVerdict | None = WordVerdict(
                word, refused=f"the guest's kernel says: {complaint}"
            )
        else:
            verdict = _verdict(word, names, known, whole_system=whole_system)
        found += [] if verdict is None else [verdict]
    return tuple(found)


def _verdict(
    word: str, passed_on: set[str], known: KnownParameters, *, whole_system: bool
) -> WordVerdict | None:
    """Return the problem of a word that the kernel does not complain about."""
    name = word.replace('"', "").partition("=")[0]
    if name.startswith(OWN):
        return None
    if whole_system and name.startswith("systemd."):
        return WordVerdict(
            word, note=f"{word} is for systemd; whether it knows that was not checked"
        )
    if "." in name and not name.startswith("sysctl."):
        return _of_module(word, name, known)
    if name not in passed_on or name.replace("-", "_") in _READ_APART:
        return None
    if known.may_know(name):
        note = (
            f"the kernel passes {word} to the first program as an unknown word, though it has a"
            " parameter of that name: whether it changes anything is not known"
        )
        return WordVerdict(word, note=note)
    return WordVerdict(
        word,
        refused=f"the guest's kernel does not know {name}, so it changes nothing",
        meant=known.close_to(name),
    )


def _of_module(word: str, name: str, known: KnownParameters) -> WordVerdict | None:
    """Return the problem of `MODULE.PARAMETER`, about which no kernel complains."""
    if known.may_know(name):
        return None
    module, _, parameter = name.partition(".")
    meant = known.close_to(name)
    if known.built_in(module):
        refused = f"the guest's kernel has {module} built in, without a parameter {parameter}"
        return WordVerdict(word, refused=refused, meant=meant)
    is_there = known.has_module(module)
    if is_there is None:
        note = f"whether {name} exists is not known: it would be a module's, and none are known"
        return WordVerdict(word, note=note, meant=meant)
    if not is_there:
        refused = f"the guest's kernel has no module {module}, so {name} changes nothing"
        return WordVerdict(word, refused=refused, meant=meant)
    own = known.of_module(module)
    if own is not None and parameter.replace("-", "_") not in own:
        refused = f"the kernel's module {module} has no parameter {parameter}"
        return WordVerdict(word, refused=refused, meant=meant)
    note = (
        f"{module} is a module: whether {word} changes anything is not known, as hardcost does not "
        "check whether the guest loads it"
    )
    return WordVerdict(word, note=note)


def _complaint(word: str, every: Sequence[str], lines: Sequence[str]) -> str | None:
    """Return the first of the kernel's complaints about a word.

    It names the parameter, or else quotes its value and names no other.
    """
    others = [one for one in every if one != word]
    for line in lines:
        if _names(line, word):
            return line
    value = word.replace('"', "").partition("=")[2]
    if value in _COMMON or value.isdecimal():
        return None
    quoted = re.compile(rf"[`'(]{re.escape(value)}[')]")
    for line in lines:
        if quoted.search(line) and not any(_names(line, one) for one in others):
            return line
    return None


def _names(line: str, word: str) -> bool:
    """Say whether a message names a word or its parameter."""
    name, _, value = word.replace('"', "").partition("=")
    patterns = [rf"[`'(]{re.escape(one)}[')]" for one in (name, f"{name}={value}")]
    patterns.append(rf"(?<![\w.]){re.escape(name)}={re.escape(value)}(?![\w.])")
    if name.startswith("sysctl."):
        patterns.append(re.escape(name.removeprefix("sysctl.")) + "=")
    return any(re.search(pattern, line) for pattern in patterns)

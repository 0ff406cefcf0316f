"""Controls: security settings that can be on or off, as plain values.

How a control is applied is the business of `mechanisms/`, a file for each kind.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

if TYPE_CHECKING:
    from hardcost.auditrules.rule import Rule


_SWAP = str.maketrans("./", "/.")
_SYSCTL_NAME = re.compile(r"[\w.:@+-]+", re.ASCII)
_KERNEL_OPTION = re.compile(
    r"(?:CONFIG_)?(?P<option>[A-Za-z0-9][A-Za-z0-9_]*)=(?P<value>[\w.+:/-]+|\"[\w .,:/@%+=()-]*\")",
    re.ASCII,
)
_BARE_VALUE = re.compile(r"[\w.+:/-]+", re.ASCII)
_BOOT_WORD = re.compile(r"(?:[!#-~]|\"[ !#-~]*\")+")


@dataclass(frozen=True)
class AuditDaemon:
    """Audit switched on, with a daemon that takes the records.

    `options` are the control lines of a rules file that are loaded before its rules, such as
    `--backlog_wait_time 60000`; `tolerant` says that the file asks auditctl (`-i`, `-c`) to go on
    after a rule that is refused. `directories` and `files` are there whether or not a rule that is
    on watches them: where rules come and go between configurations, a file that came and went with
    its rule would move the inode numbers of others, and with them what their rules cost.
    """

    backlog_limit: int = 8192
    options: tuple[str, ...] = ()
    tolerant: bool = False
    directories: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    mechanism: ClassVar[str] = "audit"

    @property
    def name(self) -> str:
        """Return the name in reports."""
        return "auditd"


@dataclass(frozen=True)
class AuditRule:
    """One rule of the kernel's audit filter, as auditctl reads it."""

    rule: Rule

    mechanism: ClassVar[str] = "audit"

    @property
    def name(self) -> str:
        """Return the rule's own text, which is its name in reports."""
        return self.rule.text


@dataclass(frozen=True)
class Sysctl:
    """A kernel setting under /proc/sys; `key` is dotted, as sysctl(8) writes it.

    A key whose first separator is a slash is taken as a path, so that a name within it may hold a
    dot: `net/ipv4/conf/eth0.1/forwarding`, or dotted `net.ipv4.conf.eth0/1.forwarding`.
    """

    key: str
    value: str

    mechanism: ClassVar[str] = "sysctl"

    @property
    def name(self) -> str:
        """Return `key=value`."""
        return f"{self.key}={self.value}"

    @property
    def path(self) -> str:
        """Return the setting's file under /proc/sys.

        Raises:
            ValueError: The key names no such file, or the value is no single line of text.
        """
        separator = re.search(r"[./]", self.key)
        swapped = self.key.translate(_SWAP) if separator and separator[0] == "." else self.key
        parts = swapped.split("/")
        if not separator or not all(_SYSCTL_NAME.fullmatch(part) for part in parts):
            raise ValueError(f"{self.key!r} is no key of sysctl, such as kernel.kptr_restrict")
        if {".", ".."} & set(parts):
            raise ValueError(f"{self.key!r} leaves /proc/sys")
        if not self.value.strip() or not self.value.replace("\t", " ").isprintable():
            raise ValueError(f"{self.key} can't be set to {self.value!r}")
        return f"/proc/sys/{swapped}"


@dataclass(frozen=True)
class BootParameter:
    """A word on the kernel's command line."""

    text: str

    mechanism: ClassVar[str] = "boot"

    @property
    def name(self) -> str:
        """Return the parameter as it stands on the command line."""
        return self.text

    @property
    def word(self) -> str:
        """Return the text, checked.

        Raises:
            ValueError: It is not one word of ASCII, in which double quotes keep spaces.
        """
        if not _BOOT_WORD.fullmatch(self.text):
            raise ValueError(f"{self.text!r} is not one word of a kernel's command line")
        if self.text == "--":
            raise ValueError("'--' would end the kernel's words: what follows would be init's")
        if self.text.startswith("hardcost."):
            raise ValueError(f"{self.text!r}: words that begin with hardcost. are its own")
        return self.text


@dataclass(frozen=True)
class Kernel:
    """The kernel that hardcost builds, before any option is set: what options are compared with.

    `base` is the name of a configuration that comes with hardcost, such as `lean`, or the path of a
    kernel configuration file. `tolerant` says that an option which can't hold on this base is noted
    rather than refused, as for options taken from a catalogue.
    """

    base: str = "lean"
    tolerant: bool = False

    mechanism: ClassVar[str] = "kconfig"

    @property
    def name(self) -> str:
        """Return the name in reports."""
        return f"kernel {self.base}"


@dataclass(frozen=True)
class KernelOption:
    """An option of the kernel's configuration, set when it is built.

    `option` is its name without `CONFIG_`; `value` is `y`, `n` (not set), a number, or a string
    without its quotes. A string holds nothing that a shell would act on.
    """

    option: str
    value: str

    mechanism: ClassVar[str] = "kconfig"

    @property
    def name(self) -> str:
        """Return `OPTION=value`, such as `SLUB_DEBUG_ON=y`; quoted where it is not one word."""
        bare = _BARE_VALUE.fullmatch(self.value)
        return f"{self.option}={self.value}" if bare else f'{self.option}="{self.value}"'

    @classmethod
    def of(cls, text: str) -> KernelOption:
        """Return the option that `text` sets, such as `SLUB_DEBUG_ON=y`, `CONFIG_` in front or not.

        Raises:
            ValueError: It is not OPTION=VALUE.
        """
        found = _KERNEL_OPTION.fullmatch(text.strip())
        if found is None:
            raise ValueError(
                f"{text!r} is no kernel option with its value, such as SLUB_DEBUG_ON=y"
            )
        return cls(found["option"], found["value"].strip('"'))


Control = AuditDaemon | AuditRule | Sysctl | BootParameter | Kernel | KernelOption


@dataclass(frozen=True)
class Profile:
    """A named list of controls, with what a reader has to know of where it comes from."""

    name: str
    title: str
    source: str
    controls: tuple[Control, ...]
    notes: tuple[str, ...] = ()

"""Controls: security settings that can be on or off, as plain values.

`mechanisms/` says how a control is applied, in a file for each kind. `ids` are the names by which
benchmarks require a control, such as `RHEL-09-652035`, and `severity` is the gravest that they give
it (`high`, `medium`, `low` …, "" if they give none); neither makes a difference to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Literal

from hardcost.controls.unitstate import Service

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hardcost.auditrules.rule import Rule
    from hardcost.controls.accounted import Accounted
    from hardcost.errors import Place

PLACEBO = "hardcost.placebo="
"""The prefix of boot words that change nothing but the command line itself."""

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
    `--backlog_wait_time 60000`; `tolerant` says that the file makes auditctl (`-i`, `-c`) continue
    after a refused rule. `directories` and `files` exist whether or not a loaded rule watches them.
    Otherwise a file that came and went with its rule would shift the inode numbers of other files,
    and with them the cost of their rules.
    """

    backlog_limit: int = 8192
    options: tuple[str, ...] = ()
    tolerant: bool = False
    directories: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    ids: tuple[str, ...] = field(default=(), compare=False)
    severity: str = field(default="", compare=False)

    mechanism: ClassVar[str] = "audit"

    @property
    def name(self) -> str:
        """Return the name in reports."""
        return "auditd"


@dataclass(frozen=True)
class AuditRule:
    """One rule of the kernel's audit filter, as auditctl reads it."""

    rule: Rule
    ids: tuple[str, ...] = field(default=(), compare=False)
    severity: str = field(default="", compare=False)

    mechanism: ClassVar[str] = "audit"

    @property
    def name(self) -> str:
        """Return the rule's own text, which is its name in reports."""
        return self.rule.text


TEXT_SETTINGS = frozenset(
    {"kernel/core_pattern", "kernel/hotplug", "kernel/modprobe", "kernel/poweroff_cmd"}
)
"""Settings under /proc/sys that are texts, for which nothing is a value."""


@dataclass(frozen=True)
class Sysctl:
    """A kernel setting under /proc/sys; `key` is dotted, as sysctl(8) writes it.

    A key whose first separator is a slash is a path, so that a name in it may contain a dot:
    `net/ipv4/conf/eth0.1/forwarding`, or dotted `net.ipv4.conf.eth0/1.forwarding`. `value` may be
    empty where the setting is a text. `place` is its location in a file of sysctls.
    """

    key: str
    value: str
    ids: tuple[str, ...] = field(default=(), compare=False)
    place: Place | None = field(default=None, compare=False)
    severity: str = field(default="", compare=False)

    mechanism: ClassVar[str] = "sysctl"

    @property
    def name(self) -> str:
        """Return `key=value`."""
        return f"{self.key}={self.value}"

    @property
    def path(self) -> str:
        """Return the setting's file under /proc/sys.

        Raises:
            ValueError: The key names no such file, or the value is not a single line of text.
        """
        separator = re.search(r"[./]", self.key)
        swapped = self.key.translate(_SWAP) if separator and separator[0] == "." else self.key
        parts = swapped.split("/")
        if not separator or not all(_SYSCTL_NAME.fullmatch(part) for part in parts):
            raise ValueError(f"{self.key!r} is not a sysctl key, such as kernel.kptr_restrict")
        if {".", ".."} & set(parts):
            raise ValueError(f"{self.key!r} leaves /proc/sys")
        empty = not self.value.strip() and not (self.value == "" and swapped in TEXT_SETTINGS)
        if empty or not self.value.replace("\t", " ").isprintable():
            raise ValueError(f"{self.key} can't be set to {self.value!r}")
        return f"/proc/sys/{swapped}"


@dataclass(frozen=True)
class BootParameter:
    """A word on the kernel's command line; `place` is its location, if known."""

    text: str
    ids: tuple[str, ...] = field(default=(), compare=False)
    place: Place | None = field(default=None, compare=False)
    severity: str = field(default="", compare=False)

    mechanism: ClassVar[str] = "boot"

    @property
    def name(self) -> str:
        """Return the parameter as it appears on the command line."""
        return self.text

    @property
    def word(self) -> str:
        """Return the checked text.

        Raises:
            ValueError: It is not one word of ASCII; double quotes keep spaces.
        """
        if not _BOOT_WORD.fullmatch(self.text):
            raise ValueError(f"{self.text!r} is not one word of a kernel's command line")
        if self.text == "--":
            raise ValueError("'--' would end the kernel's words: what follows would be init's")
        if self.text.startswith("hardcost.") and not self.text.startswith(PLACEBO):
            raise ValueError(f"{self.text!r}: words that begin with hardcost. are reserved")
        return self.text


PlaceboKind = Literal["boot", "sysctl", "rule"]
"""What a placebo does: add unknown words to the kernel's command line, write settings with their
current values, or add audit rules and delete them again."""


@dataclass(frozen=True)
class Placebo:
    """A change without effect, to see by how much measurements differ by chance; `number` from 0.

    Each number does it differently: other lengths, other counts.
    """

    kind: PlaceboKind
    number: int
    ids: tuple[str, ...] = field(default=(), compare=False)
    severity: str = field(default="", compare=False)

    mechanism: ClassVar[str] = "placebo"

    @property
    def name(self) -> str:
        """Return the name in reports."""
        return f"placebo {self.kind} {self.number}"


@dataclass(frozen=True)
class Kernel:
    """A kernel built by hardcost, before any option is set: the baseline of options.

    `base` is the name of a configuration that comes with hardcost, such as `lean`, or the path of a
    kernel configuration file. `tolerant` says that an option that can't hold on this base is noted
    instead of refused, as for options from a catalogue. `patches` are applied to its source: files,
    folders of patches, or series that come with hardcost; they are not controls of their own.

    A `shipped` kernel is not built but booted as somebody else built it: `base` is then what
    `--kernel` takes, such as `debian:6.12` or the path of a package.
    """

    base: str = "lean"
    tolerant: bool = False
    patches: tuple[str, ...] = ()
    shipped: bool = False
    ids: tuple[str, ...] = field(default=(), compare=False)
    severity: str = field(default="", compare=False)

    mechanism: ClassVar[str] = "kconfig"

    @property
    def name(self) -> str:
        """Return the name in reports."""
        patched = ", ".join(Path(patch).name or patch for patch in self.patches)
        return f"kernel {self.base}{f' with {patched}' if patched else ''}"


@dataclass(frozen=True)
class KernelOption:
    """An option of the kernel's configuration, set at build time.

    `option` is its name without `CONFIG_`; `value` is `y`, `n` (not set), a number, or a string
    without its quotes. A string contains nothing that a shell would interpret.
    """

    option: str
    value: str
    ids: tuple[str, ...] = field(default=(), compare=False)
    severity: str = field(default="", compare=False)

    mechanism: ClassVar[str] = "kconfig"

    @property
    def name(self) -> str:
        """Return `OPTION=value`, such as `SLUB_DEBUG_ON=y`; quoted if it is not one word."""
        bare = _BARE_VALUE.fullmatch(self.value)
        return f"{self.option}={self.value}" if bare else f'{self.option}="{self.value}"'

    @classmethod
    def of(cls, text: str) -> KernelOption:
        """Return the option of `text`, such as `SLUB_DEBUG_ON=y`, with or without `CONFIG_`.

        Raises:
            ValueError: It is not OPTION=VALUE.
        """
        found = _KERNEL_OPTION.fullmatch(text.strip())
        if found is None:
            raise ValueError(
                f"{text!r} is not a kernel option with its value, such as SLUB_DEBUG_ON=y"
            )
        return cls(found["option"], found["value"].strip('"'))


LsmMode = Literal["none", "apparmor", "permissive", "enforcing"]
"""Which major security module is active; `permissive` and `enforcing` are SELinux's modes."""


@dataclass(frozen=True)
class Lsm:
    """The major security module of a Debian guest, with its policy loaded."""

    mode: LsmMode
    ids: tuple[str, ...] = field(default=(), compare=False)
    severity: str = field(default="", compare=False)

    packages: ClassVar[tuple[str, ...]] = ("apparmor", "selinux-policy-default")
    mechanism: ClassVar[str] = "lsm"
    slot: ClassVar[str] = "lsm"

    @property
    def name(self) -> str:
        """Return `lsm=MODE`."""
        return f"lsm={self.mode}"


@dataclass(frozen=True)
class MountOptions:
    """Mount options of the directory's mount, such as `noexec`."""

    path: str
    options: tuple[str, ...]
    ids: tuple[str, ...] = field(default=(), compare=False)
    severity: str = field(default="", compare=False)

    packages: ClassVar[tuple[str, ...]] = ()
    mechanism: ClassVar[str] = "mount"

    @property
    def slot(self) -> str:
        """Return the slot, which at most one control may have."""
        return f"mount {self.path}"

    @property
    def name(self) -> str:
        """Return the path with its options."""
        return f"mount {self.path} {','.join(self.options)}"


ENDS_THE_GUEST = frozenset({"single", "halt"})
"""Actions of auditd.conf that would end the guest."""

Flush = Literal["none", "incremental", "incremental_async", "data", "sync"]
"""When auditd flushes its log to the disk, as in auditd.conf(5)."""


@dataclass(frozen=True)
class Auditd:
    """The audit package's daemon, which writes the records to its log.

    `flush` and `freq` determine how it gets them onto the disk; `settings` are further lines of
    auditd.conf, (key, value). Without it the probe takes the records and discards them.
    """

    flush: Flush = "incremental_async"
    freq: int = 50
    settings: tuple[tuple[str, str], ...] = ()
    ids: tuple[str, ...] = field(default=(), compare=False)
    severity: str = field(default="", compare=False)

    packages: ClassVar[tuple[str, ...]] = ("auditd",)
    mechanism: ClassVar[str] = "auditd"
    slot: ClassVar[str] = "auditd"

    @property
    def name(self) -> str:
        """Return the service's name, with its differences from Debian's own configuration."""
        plain = Auditd()
        words = ["auditd.service"]
        words += [f"flush={self.flush}"] * (self.flush != plain.flush)
        words += [f"freq={self.freq}"] * (self.freq != plain.freq)
        words += [f"({len(self.settings)} settings)"] * bool(self.settings)
        return " ".join(words)


@dataclass(frozen=True)
class AuditPlugin:
    """A program that receives every record from auditd: `syslog`, or `af_unix` (a socket)."""

    plugin: str
    ids: tuple[str, ...] = field(default=(), compare=False)
    severity: str = field(default="", compare=False)

    packages: ClassVar[tuple[str, ...]] = ("auditd",)
    mechanism: ClassVar[str] = "auditd"

    @property
    def slot(self) -> str:
        """Return the slot, which at most one control may have."""
        return self.name

    @property
    def name(self) -> str:
        """Return the plug-in's name."""
        return f"auditd plug-in {self.plugin}"


@dataclass(frozen=True)
class Rsyslog:
    """The syslog daemon, which writes what programs log to /var/log.

    With `forward` it also sends everything, over TCP, to a receiver in the guest. With `rate_limit`
    it takes at most `burst` messages of one process in `interval` seconds, and drops the rest.
    """

    forward: bool = False
    rate_limit: bool = False
    burst: int = 20_000
    interval: int = 600
    ids: tuple[str, ...] = field(default=(), compare=False)
    severity: str = field(default="", compare=False)

    packages: ClassVar[tuple[str, ...]] = ("rsyslog",)
    mechanism: ClassVar[str] = "rsyslog"
    slot: ClassVar[str] = "rsyslog"

    @property
    def name(self) -> str:
        """Return the service's name, with its additional functions."""
        limit = f"rate-limit={self.burst}/{self.interval}s"
        words = ["rsyslog.service", *["forward"] * self.forward, *[limit] * self.rate_limit]
        return " ".join(words)


FapolicydRules = Literal["known-libs", "restrictive"]
"""The rule sets that come with fapolicyd; `known-libs` is RHEL's default."""

Integrity = Literal["none", "size", "sha256"]
"""What fapolicyd compares of a trusted file with its list, besides the path."""


@dataclass(frozen=True)
class Fapolicyd:
    """Application control: only programs and libraries on a list of trusted files may run.

    A daemon decides before each file is opened or executed.
    """

    rules: FapolicydRules = "known-libs"
    integrity: Integrity = "none"
    ids: tuple[str, ...] = field(default=(), compare=False)
    severity: str = field(default="", compare=False)

    packages: ClassVar[tuple[str, ...]] = ("fapolicyd",)
    mechanism: ClassVar[str] = "fapolicyd"
    slot: ClassVar[str] = "fapolicyd"

    @property
    def name(self) -> str:
        """Return the service's name, with its differences from RHEL's own configuration."""
        plain = Fapolicyd()
        words = ["fapolicyd.service"]
        words += [f"rules={self.rules}"] * (self.rules != plain.rules)
        words += [f"integrity={self.integrity}"] * (self.integrity != plain.integrity)
        return " ".join(words)


@dataclass(frozen=True)
class Scanner:
    """The on-access virus scanner: ClamAV scans each file under `paths` before it is opened.

    With `prevention`, opening waits for the verdict, and an infected file is refused; without, the
    scan runs concurrently and is logged. `signatures` is the number of made-up ones in its
    database.
    """

    paths: tuple[str, ...] = ("/home", "/srv/tree")
    prevention: bool = True
    signatures: int = 100
    ids: tuple[str, ...] = field(default=(), compare=False)
    severity: str = field(default="", compare=False)

    packages: ClassVar[tuple[str, ...]] = ("clamav-daemon",)
    mechanism: ClassVar[str] = "scanner"
    slot: ClassVar[str] = "scanner"

    @property
    def name(self) -> str:
        """Return the name, with its differences from the default."""
        plain = Scanner()
        words = ["on-access scanner"]
        words += [f"paths={','.join(self.paths)}"] * (self.paths != plain.paths)
        words += ["without prevention"] * (not self.prevention)
        words += [f"signatures={self.signatures}"] * (self.signatures != plain.signatures)
        return " ".join(words)


SystemControl = Lsm | MountOptions | Auditd | AuditPlugin | Rsyslog | Fapolicyd | Scanner | Service
"""Controls that need a whole Debian system; each `slot` has at most one."""

Control = (
    AuditDaemon
    | AuditRule
    | Sysctl
    | BootParameter
    | Placebo
    | Kernel
    | KernelOption
    | SystemControl
)

_NEEDS: dict[type, type] = {AuditPlugin: Auditd}


def comparable(controls: Sequence[Control], profile: Sequence[Control]) -> tuple[Control, ...]:
    """Return a part of a profile's `controls` in a form comparable with the others.

    A control that requires one left out is left out too: an auditd plug-in does nothing without
    auditd. If the profile chooses a security module and the part doesn't, there is none; otherwise
    Debian's kernel would start one by default.
    """
    kinds = {type(control) for control in controls}
    kept = tuple(one for one in controls if _NEEDS.get(type(one), type(one)) in kinds)
    chosen = any(isinstance(one, Lsm) for one in profile)
    return (*kept, Lsm("none")) if chosen and Lsm not in kinds else kept


def needed(control: Control, controls: Sequence[Control]) -> tuple[Control, ...]:
    """Return those of `controls` that `control` requires."""
    need = _NEEDS.get(type(control))
    if need is None:
        return ()
    return tuple(one for one in controls if type(one) is need)


@dataclass(frozen=True)
class Profile:
    """A named list of controls, with notes on its origin for the reader.

    `accounting` has each rule of the benchmark's profile that it was made of, if it was.
    """

    name: str
    title: str
    source: str
    controls: tuple[Control, ...]
    notes: tuple[str, ...] = ()
    accounting: tuple[Accounted, ...] = ()

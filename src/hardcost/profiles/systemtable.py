"""Controls of a whole Debian system in TOML files: security module, mounts, services."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, model_validator
from pydantic_core import PydanticCustomError

from hardcost.controls.control import (
    Auditd,
    AuditPlugin,
    Fapolicyd,
    FapolicydRules,
    Flush,
    Integrity,
    Lsm,
    LsmMode,
    MountOptions,
    Rsyslog,
    Scanner,
)
from hardcost.controls.unitstate import Service

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardcost.controls.control import SystemControl

TABLE = ConfigDict(extra="forbid", frozen=True)
_DUPLICATE = ("RHEL-09-652035",)
"""Rules that require records in syslog too, by "Reducing RHEL9 STIG Performance Impacts"."""

_AUDITD, _RSYSLOG, _ENFORCING = ("CCE-90829-3",), ("CCE-83989-4",), ("CCE-84079-3",)
"""The RHEL 9 rules of SCAP Security Guide that require services and SELinux's state."""
_APPLICATION_CONTROL = ("RHEL-09-433010", "RHEL-09-433015", "RHEL-09-433016")
"""Installed; enabled; denies everything that is not trusted (STIG V2)."""
_SCANNER = ("RHEL-09-211025",)
"""The first two versions of the STIG require it by a vendor's name; the slides by this id."""

_Setting = Annotated[str, Field(pattern=r"^[^\n=]*$")]
_Positive = Annotated[StrictInt, Field(ge=1, le=2**31 - 1)]
_Path = Annotated[str, Field(pattern=r"^/([^/\s]+(/[^/\s]+)*)?$")]
_Below = Annotated[str, Field(pattern=r"^(/[^/\s]+)+$")]
_Unit = Annotated[str, Field(pattern=r"^[A-Za-z0-9:_.\\@-]+\.(service|socket|timer|path)$")]
_MountOption = Literal["noexec", "nosuid", "nodev", "noatime", "relatime", "nodiratime"]


class ServiceTable(BaseModel):
    """A service: `true`, `false` (as if it were absent), or a table of its settings."""

    model_config = TABLE

    enabled: StrictBool = True

    @model_validator(mode="before")
    @classmethod
    def _switched(cls, value: object) -> object:
        if isinstance(value, bool):
            return {"enabled": value}
        if not isinstance(value, dict | ServiceTable):
            raise PydanticCustomError("service", "should be true, false or a table")
        return value


class AuditdTable(ServiceTable):
    """`auditd = true | { … }`: the audit package's daemon.

    `flush` and `freq` are those of auditd.conf(5), `settings` other lines of it; `plugins` are the
    programs that receive every record.
    """

    flush: Flush = Auditd.flush
    freq: Annotated[StrictInt, Field(ge=0, le=2**31 - 1)] = Auditd.freq
    settings: dict[Annotated[str, Field(pattern=r"^[a-z_]+$")], StrictInt | _Setting] = {}
    plugins: tuple[Literal["syslog", "af_unix"], ...] = ()


class RsyslogTable(ServiceTable):
    """`rsyslog = true | { … }`: the syslog daemon.

    `forward` sends its messages to a receiver in the guest too; `rate-limit` drops the messages of
    a process beyond `burst` in `interval` seconds.
    """

    forward: StrictBool = False
    rate_limit: Annotated[StrictBool, Field(alias="rate-limit")] = False
    burst: _Positive = Rsyslog.burst
    interval: Annotated[StrictInt, Field(ge=1, le=65535)] = Rsyslog.interval


class FapolicydTable(ServiceTable):
    """`fapolicyd = true | { … }`: application control.

    `rules` is one of the sets that come with it; `integrity` is what it compares of a trusted file
    with its list, in addition to the path.
    """

    rules: FapolicydRules = Fapolicyd.rules
    integrity: Integrity = Fapolicyd.integrity


class ScannerTable(ServiceTable):
    """`scanner = true | { … }`: the on-access virus scanner.

    `paths` are the directories that it scans, recursively; `prevention` refuses infected files;
    `signatures` is the number of made-up ones in its database.
    """

    paths: Annotated[tuple[_Below, ...], Field(min_length=1)] = Scanner.paths
    prevention: StrictBool = Scanner.prevention
    signatures: Annotated[StrictInt, Field(ge=0, le=1_000_000)] = Scanner.signatures


class UnitTable(BaseModel):
    """A unit of systemd: `"running"`, `"stopped"`, or a table.

    `files` maps paths to texts that the unit has in the place of the machine's own.
    """

    model_config = TABLE

    running: StrictBool = True
    files: dict[_Below, str] = {}

    @model_validator(mode="before")
    @classmethod
    def _state(cls, value: object) -> object:
        if isinstance(value, str) and value in {"running", "stopped"}:
            return {"running": value == "running"}
        if not isinstance(value, dict | UnitTable):
            message = 'should be "running", "stopped" or a table'
            raise PydanticCustomError("unit", message)
        return value


class SystemTable(BaseModel):
    """The keys of controls that need a whole Debian system.

    `lsm` is the major security module and its mode; `mount` maps directories to mount options;
    `service` maps units of systemd, of a machine that runs already, to what they are to be; the
    others are services of guests.
    """

    model_config = TABLE

    lsm: LsmMode | None = None
    mount: dict[_Path, tuple[_MountOption, ...]] = {}
    auditd: AuditdTable | None = None
    rsyslog: RsyslogTable | None = None
    fapolicyd: FapolicydTable | None = None
    scanner: ScannerTable | None = None
    service: dict[_Unit, UnitTable] = {}

    def system(self) -> Iterator[SystemControl]:
        """Yield the controls of the keys."""
        if self.lsm is not None:
            yield Lsm(self.lsm, _ENFORCING if self.lsm == "enforcing" else ())
        for path, options in self.mount.items():
            if options:
                yield MountOptions(path, tuple(dict.fromkeys(options)))
        if self.auditd is not None and self.auditd.enabled:
            settings = tuple((key, str(value)) for key, value in self.auditd.settings.items())
            yield Auditd(self.auditd.flush, self.auditd.freq, settings, _AUDITD)
            for plugin in dict.fromkeys(self.auditd.plugins):
                yield AuditPlugin(plugin, _DUPLICATE if plugin == "syslog" else ())
        rsyslog = self.rsyslog
        if rsyslog is not None and rsyslog.enabled:
            limit = (rsyslog.rate_limit, rsyslog.burst, rsyslog.interval)
            yield Rsyslog(rsyslog.forward, *limit, ids=_RSYSLOG)
        if self.fapolicyd is not None and self.fapolicyd.enabled:
            yield Fapolicyd(self.fapolicyd.rules, self.fapolicyd.integrity, _APPLICATION_CONTROL)
        scanner = self.scanner
        if scanner is not None and scanner.enabled:
            paths = tuple(dict.fromkeys(scanner.paths))
            yield Scanner(paths, scanner.prevention, scanner.signatures, _SCANNER)
        for unit, wanted in self.service.items():
            yield Service(unit, wanted.running, tuple(wanted.files.items()))

"""A file is watched as a directory tree.

What: `dir` (or -w with a trailing slash) names a file: according to the file system (--root),
according to the Filesystem Hierarchy Standard, which allows no directories directly below /usr/bin
and the like, or because it is one of the account files.

Why: Every system call tries a `dir` rule, but only calls that touch the file try a `path` rule. For
a file, both record the same.

Example:
    -a always,exit -F dir=/etc/passwd -F perm=wa -k identity

Remedy: Write `-F path=` instead of `-F dir=`, or drop the slash.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.lint import prices
from auditrules.lint.context import Context, column_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.kernel_rule import FilterList
from auditrules.tables import lookup

CODE = "dir-for-file"
LEVEL = Level.WARNING

_FILES = frozenset({
    "/etc/passwd", "/etc/passwd-", "/etc/shadow", "/etc/shadow-", "/etc/group", "/etc/group-",
    "/etc/gshadow", "/etc/gshadow-", "/etc/sudoers", "/etc/security/opasswd", "/etc/login.defs",
    "/etc/securetty", "/etc/hosts", "/etc/hostname", "/etc/issue", "/etc/issue.net",
    "/etc/localtime", "/etc/crontab", "/etc/anacrontab", "/etc/at.allow", "/etc/at.deny",
    "/etc/cron.allow", "/etc/cron.deny", "/etc/fstab", "/etc/ld.so.conf", "/etc/ld.so.preload",
    "/etc/sysctl.conf", "/etc/resolv.conf", "/etc/nsswitch.conf", "/etc/ssh/sshd_config",
    "/etc/ssh/ssh_config", "/etc/audit/auditd.conf", "/etc/audit/audit.rules", "/var/log/lastlog",
    "/var/log/wtmp", "/var/log/btmp", "/var/log/tallylog", "/var/run/utmp", "/run/utmp",
})  # fmt: skip
_PROGRAMS = frozenset({"/bin", "/sbin", "/usr/bin", "/usr/sbin"})
"""Folders that hold no folders (Filesystem Hierarchy Standard 3.0, 3.4, 3.16, 4.4, 4.10)."""

_COMMON = "getppid"


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule that watches a file as a directory tree."""
    for rule in context.rules:
        if rule.list is not FilterList.EXIT or rule.directory is None:
            continue
        reason = _reason(context, rule.directory)
        if reason:
            column = column_of(rule.source, "dir=") or column_of(rule.source, "/")
            yield Diagnostic(
                CODE,
                LEVEL,
                f"{rule.directory} is watched as a directory tree, but {reason}",
                location_of(rule.source, column),
                rule.source.text if rule.source else "",
                f"write -F path={rule.directory}: only calls that touch the file then try it",
                prices.cost_of_walking(context, rule, lookup.calls("b64")[_COMMON]),
            )


def _reason(context: Context, path: str) -> str:
    """Return why a path names a file, "" if that is not known."""
    if context.options.root is not None:
        return "it is a file" if context.options.root.is_other(path) else ""
    folder, _, name = path.rpartition("/")
    if folder in _PROGRAMS and name != "X11":
        return f"the Filesystem Hierarchy Standard allows no directories in {folder}"
    return "it is a file" if path in _FILES else ""

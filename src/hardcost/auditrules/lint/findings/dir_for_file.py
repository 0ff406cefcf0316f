"""A file is watched as if it were a tree.

What: `dir` (or -w with a slash at the end) names something that is a file: by what lies there
(--root), by the Filesystem Hierarchy Standard, which allows no directories directly below /usr/bin
and its like, or because it is one of the account files.

Why: A `dir` rule is tried by every system call, a `path` rule only by calls that touch the file.
Both record the same of a file.

Example:
    -a always,exit -F dir=/etc/passwd -F perm=wa -k identity

Remedy: Write `-F path=` in place of `-F dir=`, or drop the slash.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.auditrules.kernelrule import FilterList
from hardcost.auditrules.lint import pricing
from hardcost.auditrules.lint.context import column_of
from hardcost.auditrules.lint.diagnostic import Diagnostic, Level, spot_of
from hardcost.auditrules.tables import lookup

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hardcost.auditrules.lint.context import Context

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
    """Yield each rule that watches a file as a tree."""
    for rule in context.rules:
        if rule.list is not FilterList.EXIT or rule.directory is None:
            continue
        reason = _reason(context, rule.directory)
        if reason:
            column = column_of(rule.source, "dir=") or column_of(rule.source, "/")
            yield Diagnostic(
                CODE,
                LEVEL,
                f"{rule.directory} is watched as a tree, and {reason}",
                spot_of(rule.source, column),
                rule.source.text if rule.source else "",
                f"write -F path={rule.directory}: only calls that touch the file then try it",
                pricing.walking(context, rule, lookup.calls("b64")[_COMMON]),
            )


def _reason(context: Context, path: str) -> str:
    """Return why a path is a file's, "" where that is not known."""
    if context.options.root is not None:
        return "is a file there" if context.options.root.is_other(path) else ""
    folder, _, name = path.rpartition("/")
    if folder in _PROGRAMS and name != "X11":
        return f"no directories lie in {folder}, says the Filesystem Hierarchy Standard"
    return "that is a file" if path in _FILES else ""

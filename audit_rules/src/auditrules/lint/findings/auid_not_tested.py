"""The rule records daemons as well as people.

What: The rule names calls that open, create, remove or change files, but does not restrict the
path, the program or the user: it tests neither auid nor another id.

Why: Every daemon matches: package managers, log rotation and services make these calls all day. The
audit package's own rules and the published baselines test `auid>=1000` and `auid!=unset` in such
rules, so that only users who logged in are recorded.

Example:
    -a always,exit -F arch=b64 -S unlink,rename -k delete

Remedy: Add `-F auid>=1000 -F auid!=unset` if the rule is about people; otherwise restrict it by
path or program.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.lint import prices, wording
from auditrules.lint.context import Context, arch_of, column_of, fields_of
from auditrules.lint.diagnostic import Diagnostic, Level, location_of
from auditrules.model.kernel_rule import IdComparison, bits
from auditrules.tables import lookup

CODE = "auid-not-tested"
LEVEL = Level.NOTE

_OPENING = ("open", "openat", "openat2", "creat", "open_by_handle_at", "truncate", "ftruncate")
_SAYS_WHAT = frozenset(
    [
        "auid", "loginuid_set", "sessionid", "uid", "euid", "suid", "fsuid", "gid", "egid", "sgid",
        "fsgid", "pid", "ppid", "exe", "path", "dir", "inode", "obj_uid", "obj_gid", "subj_user",
        "subj_role", "subj_type", "subj_sen", "subj_clr", "obj_user", "obj_role", "obj_type",
        "obj_lev_low", "obj_lev_high",
    ]
)  # fmt: skip


def find(context: Context) -> Iterable[Diagnostic]:
    """Yield each rule that records file work of any user."""
    for rule in context.recording:
        if wording.is_all(rule.mask) or not _SAYS_WHAT.isdisjoint(fields_of(rule)):
            continue
        if any(isinstance(one, IdComparison) for one in rule.conditions):
            continue
        arch = arch_of(rule) or "b64"
        calls = [call for call in bits(rule.mask) if call in _on_files(arch)]
        if calls:
            names = wording.list_names([lookup.call_name(arch, call) for call in calls])
            yield Diagnostic(
                CODE,
                LEVEL,
                f"it does not test auid, so every daemon's {names} matches too",
                location_of(rule.source, column_of(rule.source, "-S")),
                rule.source.text if rule.source else "",
                "add -F auid>=1000 -F auid!=unset if the rule is about people",
                prices.cost_of_recording(context, rule, calls[0], arch),
            )


def _on_files(arch: lookup.Arch) -> frozenset[int]:
    """Return the calls that open, make, remove or change files."""
    numbers = lookup.calls(arch)
    opening = frozenset(numbers[name] for name in _OPENING if name in numbers)
    changing = lookup.class_calls(arch, "dir_write") | lookup.class_calls(arch, "attributes")
    return opening | changing

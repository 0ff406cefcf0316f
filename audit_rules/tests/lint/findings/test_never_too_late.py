from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "never-too-late"
ETC = "-a always,exit -F dir=/etc -F perm=wa -k etc"
NEVER = "-a never,exit -F exe=/usr/sbin/sshd"


def test_an_exception_after_all_rules_that_record_what_it_names_is_found(lint: Lint) -> None:
    (found,) = lint(CODE, ETC, "-a always,exit -F arch=b64 -S chmod -F auid=5 -k x", NEVER)
    assert (found.spot.line, [one.line for one in found.related]) == (3, [1, 2])


@pytest.mark.parametrize(
    "lines",
    [
        (NEVER, ETC),
        (ETC, "-A never,exit -F exe=/usr/sbin/sshd"),
        (ETC, NEVER, "-a always,exit -F arch=b64 -S chmod -k x"),
        (NEVER,),
        ("-a always,exit -F arch=b64 -S chmod -k x", "-a never,exit -F arch=b64 -S adjtimex"),
        ("-a always,exit -F arch=b64 -S chmod -k x", "-a never,exit -F arch=b32 -S 90"),
        ("-a always,exit -F arch=b64 -S chmod -F uid=0 -k x", f"{NEVER} -F uid=1"),
        # The first file that a call visits decides.
        ("-w /etc/a -p wa -k a", "-a never,exit -S all -F path=/etc/b"),
    ],
)
def test_one_that_some_later_rule_needs_is_none(lint: Lint, lines: tuple[str, ...]) -> None:
    assert not lint(CODE, *lines)

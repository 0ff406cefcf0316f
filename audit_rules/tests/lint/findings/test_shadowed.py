from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from auditrules.kernel import semantics
from auditrules.kernel.event import Event, FileId, VisitedName
from auditrules.lint import checks
from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Diagnostic
from auditrules.model.kernel_rule import UNSET
from auditrules.model.location import Location
from auditrules.tables import lookup

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "shadowed"


OPEN = "-a always,exit -F arch=b64 -S open,openat"


def lines_of(found: tuple[Diagnostic, ...]) -> list[tuple[int | None, list[int | None]]]:
    return [(one.spot.line, [spot.line for spot in one.related]) for one in found]


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ("", "-F exit=-EACCES"),
        ("-F auid>=500", "-F auid>=1000 -F auid!=unset"),
        ("-F auid!=unset", "-F auid=1000"),
        ("-F perm=rw", "-F perm=r"),
        ("-F uid=joe", "-F uid=joe -F success=0"),
        ("-F success!=0", "-F success=1"),
        ("-C uid!=euid", "-F euid=0 -C uid!=euid"),
    ],
)
def test_a_wider_rule_before_shadows_a_narrower_one(lint: Lint, wide: str, narrow: str) -> None:
    assert lines_of(lint(CODE, f"{OPEN} {wide} -k a", f"{OPEN} {narrow} -k b")) == [(2, [1])]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("-F exit=-EACCES", ""),
        ("-F auid>=1000", "-F auid>=500"),
        ("-F auid>=1000", "-F uid>=1000"),
        ("-F gid=5", "-F gid>=5"),
        ("-F obj_uid=5", "-F obj_uid>=1"),
        ("-F perm=r", "-F perm=rw"),
        ("-F exit=-EACCES", "-F success=0"),
    ],
)
def test_a_rule_that_may_still_match_is_not_shadowed(lint: Lint, one: str, other: str) -> None:
    assert not lint(CODE, f"{OPEN} {one} -k a", f"{OPEN} {other} -k b")


def test_rules_shadow_together_what_each_leaves_open(lint: Lint) -> None:
    found = lint(
        CODE,
        "-a always,exit -F arch=b64 -S open -k a",
        "-a always,exit -F arch=b64 -S openat -F auid>=1000 -k b",
        f"{OPEN} -F auid>=1000 -k c",
        f"{OPEN} -k d",
    )
    assert lines_of(found) == [(3, [1, 2])]


def test_a_prepended_rule_shadows_those_before_it(lint: Lint) -> None:
    found = lint(CODE, f"{OPEN} -F uid=0 -k a", "-A never,exit -F arch=b64 -S open,openat")
    assert lines_of(found) == [(1, [2])]


def test_a_catch_all_shadows_a_watch_that_comes_later(lint: Lint) -> None:
    watch = "-w /etc/shadow -p wa -k identity"
    assert lines_of(lint(CODE, "-a never,exit -S all", watch)) == [(2, [1])]
    assert not lint(CODE, watch, "-a never,exit -S all")


def test_watches_of_one_path_shadow_nothing_since_their_order_changes(lint: Lint) -> None:
    assert not lint(CODE, "-w /etc/shadow -p rwa -k a", "-w /etc/shadow -p wa -k b")


def test_rules_on_one_inode_keep_their_order(lint: Lint) -> None:
    rule = "-a always,exit -F inode=5 -S all -k"
    assert lines_of(lint(CODE, f"{rule} a", f"{rule} b -F uid=0")) == [(2, [1])]


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ("-a never,exit -F dir=/etc", "-w /etc/shadow -p wa -k b"),
        ("-a never,exit -F dir=/etc/", "-a always,exit -F path=/etc//ssh/x -F perm=wa -k b"),
        ("-w /etc/ -p wa -k a", "-w /etc/ssh/ -p wa -k b"),
        ("-a always,exit -F dir=/ -F perm=rwa -k a", "-w /etc/shadow -p wa -k b"),
        ("-a never,exit -F dir=/var/run", "-w /var/run/utmp -p wa -k b"),
    ],
)
def test_a_rule_on_a_directory_shadows_those_on_what_lies_in_it(
    lint: Lint, wide: str, narrow: str
) -> None:
    assert lines_of(lint(CODE, wide, narrow)) == [(2, [1])]
    assert not lint(CODE, narrow, wide)


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ("-a never,exit -F dir=/etc", "-w /etcetera -p wa -k b"),
        ("-a never,exit -F dir=/etc -F perm=r", "-w /etc/shadow -p wa -k b"),
        ("-a never,exit -F dir=/etc -F uid=0", "-w /etc/shadow -p wa -k b"),
        ("-a never,exit -F dir=/var", "-w /var/run/utmp -p wa -k b"),
        ("-w /etc -p wa -k a", "-w /etc/shadow -p wa -k b"),
    ],
)
def test_one_on_another_directory_or_behind_a_link_does_not(
    lint: Lint, wide: str, narrow: str
) -> None:
    assert not lint(CODE, wide, narrow)


def test_types_of_records_shadow_as_numbers_do(lint: Lint) -> None:
    cwd = "-a always,exclude -F msgtype=CWD"
    assert lines_of(lint(CODE, "-a always,exclude -F msgtype>1000", cwd)) == [(2, [1])]
    assert not lint(CODE, "-a always,exclude -F msgtype>1400", cwd)
    assert not lint(CODE, "-a always,exclude", cwd)  # it matches nothing


@pytest.mark.parametrize(
    ("first", "ends"),
    [
        ("-a never,user -F uid=0", True),
        ("-a always,user -F auid<2000", False),
        ("-a never,user -F euid=0", True),  # the kernel does not test it, and ends the walk
        ("-a never,user -F uid=0 -F euid=5", True),
        ("-a never,user -F uid=1 -F euid=5", False),
        ("-a never,user", False),
    ],
)
def test_rules_about_what_programs_send_shadow_each_other(
    lint: Lint, first: str, *, ends: bool
) -> None:
    found = lint(CODE, first, "-a never,user -F msgtype=USER_AUTH -F uid=0")
    assert lines_of(found) == ([(2, [1])] if ends else [])


def test_a_rule_that_no_new_task_matches_shadows_none(lint: Lint) -> None:
    assert not lint(CODE, "-a never,task -F arch=b64", "-a never,task -F arch=b64 -F uid=0")
    assert lines_of(lint(CODE, "-a never,task -F uid=0", "-a never,task -F uid=0 -F gid=5"))


def test_lists_do_not_shadow_each_other(lint: Lint) -> None:
    assert not lint(CODE, "-a never,task", "-a always,exit -S all -F uid=0 -k x")
    assert lines_of(
        lint(CODE, "-a always,exclude -F msgtype=CWD", "-a always,exclude -F msgtype=CWD -F uid=0")
    ) == [(2, [1])]


def test_what_is_said_never_to_fire_never_fires(context_of: Callable[..., Context]) -> None:
    """Drawn rules and events: no rule that is called shadowed or contradictory decides."""
    draw = random.Random(5)  # noqa: S311  (no secret)
    said = 0
    for _ in range(150):
        context = context_of(*(_drawn_rule(draw) for _ in range(draw.randint(2, 9))))
        loaded = semantics.load(context.rules, FILES)
        places = {rule.source.place: at for at, rule in enumerate(context.rules) if rule.source}
        dead = {
            places[Location(one.spot.file, one.spot.line or 0)]
            for one in checks.findings_in(context, {CODE, "contradictory", "arch-lacks-call"})
            if "never fires" in one.message
        }
        said += len(dead)
        for _ in range(60):
            assert semantics.decide(loaded, _drawn_event(draw)).decided_by not in dead
    assert said > 100


FILES = {
    "/a": FileId(8, 1, 32), "/b": FileId(8, 1, 64), "/d": FileId(8, 1, 3), "/d/x": FileId(8, 1, 9),
}  # fmt: skip
_FIELDS = (
    "auid>=1000", "auid!=unset", "auid=unset", "auid=1000", "auid<500", "uid=0", "uid!=0",
    "uid=1000",
    "success=1", "success=0", "exit=-EACCES", "exit=-EPERM", "exit>=0", "gid=5", "gid!=5", "gid=6",
    "obj_uid=0", "obj_uid=7", "perm=r", "perm=w", "perm=wa", "perm=x", "a0=1", "a0>=1", "a1&1",
    "arch=b64", "arch=b32", "arch!=b64", "dir=/d", "path=/a", "path=/b", "path=/d/x",
    "inode=32",
)  # fmt: skip
_CALLS = ("open", "openat", "unlink", "chmod", "execve", "open,openat", "link,unlink", "all", "350")


def _drawn_rule(draw: random.Random) -> str:
    fields = [f"-F {field}" for field in draw.sample(_FIELDS, draw.randint(0, 3))]
    arch = [field for field in fields if "arch" in field]
    rest = [field for field in fields if "arch" not in field]
    calls = f"-S {draw.choice(_CALLS)}"
    compared = draw.choice(["", "", "-C uid!=euid", "-C uid=euid", "-C auid!=obj_uid"])
    words = [draw.choice(["-a", "-a", "-a", "-A"]), draw.choice(["always,exit", "never,exit"])]
    return " ".join([*words, *arch, calls, compared, *rest, "-k", draw.choice("abc")])


def _drawn_event(draw: random.Random) -> Event:
    arch: lookup.Arch = draw.choice(lookup.ARCHES)
    call = lookup.calls(arch)[draw.choice(["open", "openat", "unlink", "chmod", "execve", "link"])]
    uid = draw.choice([0, 1000])
    names = tuple(
        VisitedName(path, file, uid=draw.choice([0, 7]))
        for path, file in (("/a", FILES["/a"]), ("/b", FILES["/b"]), ("/d/x", FILES["/d/x"]))
        if draw.random() < 0.5
    )
    return Event(
        arch=arch,
        call=call,
        arguments=(draw.randint(0, 2), draw.randint(0, 3), draw.randint(0, 3), 0),
        exit=draw.choice([0, 3, -13, -1, None]),
        uid=uid, euid=draw.choice([0, uid]), gid=draw.choice([5, 6]),
        groups=frozenset(draw.sample([5, 6], draw.randint(0, 2))),
        auid=draw.choice([1000, 100, UNSET]),
        names=names,
    )  # fmt: skip

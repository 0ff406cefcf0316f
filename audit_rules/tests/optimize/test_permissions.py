from __future__ import annotations

from dataclasses import replace

import pytest

from auditrules.auditctl.translate import AS_WRITTEN, translate
from auditrules.cost.constants import Constants
from auditrules.cost.histogram import general
from auditrules.load.load import load_lines
from auditrules.model.rule import Rule
from auditrules.optimize.optimize import OptimizeOptions, optimise
from auditrules.optimize.output import text
from auditrules.optimize.permissions import NUMBERS, class_numbers
from auditrules.optimize.releases import proofs
from auditrules.prove.prove import prove_equal
from auditrules.prove.relation import Relation
from auditrules.read import parse
from auditrules.tables import lookup
from auditrules.tables.lookup import RELEASES

TREE = "-a always,exit -F dir=/etc -F perm={} -k k"
FCHMODAT2 = 452


def made_of(line: str) -> str:
    """Return the file that the optimiser makes of a line."""
    readings = parse.read_bytes(f"{line}\n".encode(), "x.rules")
    rules = load_lines([readings]).rules
    return text(
        optimise(rules, Constants.of_debian(), general(), OptimizeOptions(thorough=True)),
        readings,
        AS_WRITTEN,
    )


@pytest.mark.parametrize("permissions", ["a", "wa", "r", "rwxa", "x"])
def test_a_narrowed_rule_records_the_same_under_each_release(permissions: str) -> None:
    line = TREE.format(permissions)
    parts = [parse.read_bytes(line.encode(), "x.rules")]
    found = proofs(made_of(line), parts, AS_WRITTEN, Relation())
    assert [found[release].equal for release in RELEASES] == [True] * len(RELEASES)


def test_a_rule_narrowed_by_names_misses_what_later_kernels_count() -> None:
    whole = TREE.format("a")
    names = "chmod,fchmod,fchmodat,chown,lchown,fchown,fchownat,link,linkat"
    named = f"-a always,exit -F arch=b64 -S {names} -F dir=/etc -F perm=a -k k"
    only_64 = whole.replace("-F dir", "-F arch=b64 -F dir")
    xattrs = named.replace(
        "-S ", "-S setxattr,lsetxattr,fsetxattr,removexattr,lremovexattr,fremovexattr,"
    )
    relation = Relation(ignore_raised=True)
    for release in RELEASES:
        target = replace(AS_WRITTEN, release=release)
        rules = [translate(Rule(one), target) for one in (only_64, xattrs)]
        result = prove_equal(rules[:1], rules[1:], relation, release=release)
        assert result.equal is (release == "6.1")
        if release == "6.12":
            assert result.difference is not None
            assert result.difference.event.call == FCHMODAT2


def test_a_class_is_named_only_where_the_rule_was_for_all_calls() -> None:
    chmods = "-a always,exit -F arch=b64 -S chmod,fchmod -F dir=/etc -F perm=a -k k"
    assert "2045" not in made_of(chmods)
    assert "2045,2044 -F dir=/etc" in made_of(TREE.format("a"))
    of_64_bit_calls = made_of(TREE.format("a").replace("-F dir", "-F arch=b64 -F dir"))
    assert ",2045 " in of_64_bit_calls
    assert "2044" not in of_64_bit_calls


def test_a_narrowed_rule_still_makes_the_kernel_note_receivers_of_signals() -> None:
    """Where `perm` was dropped as needless, it comes back, so that a signal call can be named."""
    line = TREE.format("a").replace("-F dir", "-F arch=b64 -F dir")
    assert "-S tkill,2045 -F perm=a" in made_of(line)


def test_class_numbers_stand_for_the_kernels_classes() -> None:
    """AUDIT_CLASS_CHATTR is 2, …_READ 4, …_WRITE 6, each of i386 one more (linux/audit.h)."""
    assert NUMBERS == {
        ("b64", "attributes"): 2045, ("b32", "attributes"): 2044, ("b64", "read"): 2043,
        ("b32", "read"): 2042, ("b64", "write"): 2041, ("b32", "write"): 2040,
    }  # fmt: skip
    rule = translate(Rule("-a always,exit -S 2045 -k k"))
    assert rule.mask == sum(1 << call for call in lookup.class_calls("b64", "attributes"))
    assert class_numbers(rule, [rule], b32=True) == ()

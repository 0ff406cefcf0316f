"""Watches of paths whose kind is not known: the proof holds for files and directories."""

from __future__ import annotations

from auditrules.auditctl.translate import translate
from auditrules.model.kernel_rule import KernelRule
from auditrules.model.rule import Rule
from auditrules.prove.prove import prove_equal


def unknown(*lines: str) -> list[KernelRule]:
    return [translate(Rule(line)) for line in lines]


def test_a_watch_of_unknown_kind_is_equal_to_neither_of_its_forms() -> None:
    watch = unknown("-w /etc/udev -p wa -k u")
    for form, kind in (("path", True), ("dir", False)):
        known = unknown(f"-a always,exit -F {form}=/etc/udev -F perm=wa -k u")
        result = prove_equal(watch, known)
        assert result.difference is not None
        assert (result.difference.directories == ("/etc/udev",)) is kind
        assert (result.difference.no_directories == ("/etc/udev",)) is not kind
    assert prove_equal(watch, unknown("-w /etc/udev/ -p wa -k u")).equal


def test_watches_of_unknown_kind_keep_what_holds_for_both_kinds() -> None:
    a, b = "-w /a -p wa -k one", "-w /b -p wa -k two"
    other = "-a always,exit -F arch=b64 -S getppid -k three"
    assert prove_equal(unknown(a, other), unknown(other, a)).equal
    assert prove_equal(unknown(a, b), unknown(b, a)).equal is False
    assert prove_equal(unknown(a, a.replace("wa", "w")), unknown(a)).equal


def test_a_path_below_shows_that_a_watched_path_is_a_directory() -> None:
    below = "-w /etc/x/y -p wa -k u"
    tree = "-a always,exit -F dir=/etc/x -F perm=wa -k u"
    assert prove_equal(unknown("-w /etc/x -p wa -k u", below), unknown(tree, below)).equal
    assert prove_equal(unknown("-w /etc/x -p wa -k u"), unknown(tree)).equal is False


def test_the_limit_covers_all_of_a_proof() -> None:
    many = [f"-w /etc/d{number} -p wa -k k{number % 7}" for number in range(400)]
    result = prove_equal(unknown(*many), unknown(*reversed(many)), seconds=0.2)
    assert (result.equal, result.reason) == (None, "it takes too long")

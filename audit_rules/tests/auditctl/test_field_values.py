"""Facts of auditctl 3.0.9 that `tests/vm/test_auditctl_agrees.py` tries on the program itself."""

from __future__ import annotations

import pytest

from auditrules.auditctl.field_values import (
    RefusedError,
    check_path,
    nearest,
    read_signed,
    read_unsigned,
)
from auditrules.auditctl.translate import Target, translate
from auditrules.model.fault import RulesError
from auditrules.model.kernel_rule import FieldTest, KernelRule
from auditrules.model.rule import Rule

UNSET = 0xFFFFFFFF


def rule(text: str) -> KernelRule:
    return translate(Rule(text))


def refused(text: str) -> str:
    with pytest.raises(RulesError) as caught:
        rule(text)
    return caught.value.faults[0].message


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("0", 0),
        ("17", 17),
        ("017", 15),
        ("0x1F", 31),
        ("08", 0),
        ("0x", 0),
        ("1k", 1),
        ("4294967296", 0),
        ("9" * 5000, UNSET),
        ("0x" + "1" * 5000, UNSET),
    ],
)
def test_numbers_are_read_as_c_reads_them(text: str, number: int) -> None:
    assert (read_unsigned(text), read_signed(text)) == (number, number)


def test_numbers_beyond_64_bits_stop_at_the_last() -> None:
    assert (read_unsigned(str(2**63)), read_signed(str(2**63))) == (0, UNSET)
    assert (read_signed("-1"), read_signed(f"-{2**63}"), read_signed("-" + "9" * 50)) == (
        UNSET,
        0,
        0,
    )


@pytest.mark.parametrize(
    ("field", "number"),
    [
        ("AUID=5", 5),
        ("exit=-eacces", 2**32 - 13),
        ("filetype=DIR", 0o40000),
        ("sessionid=abc", 0),
        ("saddr_fam=inet", 0),
        ("a0=-1", UNSET),
        ("inode=4294967295", UNSET),
        ("arch=I386", 0x40000003),
        ("arch=c000003e", 0xC000003E),
        ("arch=0x40000003", 0x40000003),
    ],
)
def test_names_fold_and_numbers_stand_for_themselves(field: str, number: int) -> None:
    text = f"-a always,exit -F {field}"
    (test,) = rule(text).conditions
    assert isinstance(test, FieldTest)
    assert test.value == number


def test_records_and_calls_fold_too() -> None:
    assert rule("-a never,exclude -F msgtype=cwd") == rule("-a never,exclude -F msgtype=CWD")
    assert rule("-a always,exit -S OPEN") == rule("-a always,exit -S open")


@pytest.mark.parametrize(
    "text",
    [
        "-a always,exit -S ALL",
        "-a always,exit -F uid==5",
        "-a always,exit -F uid=-EACCES",
        "-a always,exit -F gid=unset",
        "-a always,exit -F gid=-1",
        "-a always,exit -F uid=99999999999999999999",
        "-a always,exit -F saddr_fam=46",
        "-a always,exit -F saddr_fam=-1",
        "-a always,exit -F uid=8 -F key=k",
        "-a always,exit -F key=k",
        "-a always,exit -S read -F key!=a -k b",
        "-a always,exit -F field_compare=0",
        "-a always,exit -F path=/x/..",
        "-a never,exclude -F exe=/x -k k",
        "-a never,filesystem -F fstype=4294967295",
        "-a always,exit -F a0=²",
        "-a always,exit -S read -k k" + " -F a0=1" * 63,
        f"-w /{'x' * 256}",
        f"-w {'/x' * 2048}",
        "-S read -a always,task",
    ],
)
def test_what_auditctl_or_the_kernel_refuses_is_refused(text: str) -> None:
    assert refused(text)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("-a always,exit -F field_compare!=11", "-a always,exit -C uid!=euid"),
        ("-a always,exit -S read -F key!=k", "-a always,exit -S read -k k"),
        ("-a always,exit -F key=k -S read", "-a always,exit -S read -k k"),
        ("-a always,exit -S read,,", "-a always,exit -S read"),
        ("-d always,exit -S read", "-a always,exit -S read"),
        ("-W /x -p wa -k k", "-w /x -p wa -k k"),
        ("-w /x//", "-w /x/"),
    ],
)
def test_lines_that_come_to_the_same(one: str, other: str) -> None:
    assert rule(one) == rule(other)


def test_commas_alone_name_no_call() -> None:
    assert rule("-a always,exit -S ,").mask == 0


def test_a_list_without_calls_keeps_those_that_stand_before_it() -> None:
    assert rule("-S read -a always,user").mask == 1


def test_a_group_may_be_called_unset_where_there_is_one() -> None:
    line = Rule("-a always,exit -F gid=unset")
    (test,) = translate(line, Target(groups={"unset": 7})).conditions
    assert isinstance(test, FieldTest)
    assert test.value == 7


def test_the_likely_word_is_found_in_long_ones_too() -> None:
    assert nearest(["opena"], ["openat", "read"]) == "did you mean openat?"
    assert nearest(["x" * 100_000], ["openat", "read"]) is None


@pytest.mark.parametrize("name", ["n" * 255, "é" * 127])
def test_a_files_name_may_have_255_bytes(name: str) -> None:
    check_path(f"/srv/{name}")
    with pytest.raises(RefusedError, match="last name is too long"):
        check_path(f"/srv/{name}nn")
    check_path("/" + "/".join([name] * 15))
    with pytest.raises(RefusedError, match="the path is too long"):
        check_path("/" + "/".join([name] * 17))

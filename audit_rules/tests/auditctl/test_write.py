from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from audit_rules.tests.kernel_rules import exit_rules, other_rules
from auditrules.auditctl.translate import AS_WRITTEN, translate
from auditrules.auditctl.write import UnwritableRuleError, listed_line, listing, text_of
from auditrules.model.kernel_rule import (
    ALL_CALLS,
    Action,
    FieldTest,
    FilterList,
    KernelRule,
    Operator,
)
from auditrules.model.location import Location
from auditrules.model.rule import LONGEST_LINE, Rule
from auditrules.read.parse import read_line


def written(line: str) -> Rule:
    reading = read_line(line, Location("x.rules", 1))
    assert reading.rule is not None, reading.fault
    return reading.rule


def loaded(line: str) -> KernelRule:
    return translate(written(line), AS_WRITTEN)


EXIT = KernelRule(FilterList.EXIT, Action.ALWAYS, ALL_CALLS, ())


@given(st.one_of(exit_rules(), other_rules()))
def test_a_rule_that_is_written_out_reads_as_the_same_rule(rule: KernelRule) -> None:
    line = text_of(rule)
    assert loaded(line) == rule
    assert len(line.encode()) <= LONGEST_LINE


@given(st.one_of(exit_rules(), other_rules()))
def test_any_rule_can_be_listed_on_one_line(rule: KernelRule) -> None:
    assert "\n" not in listed_line(rule)


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("-w /etc/passwd -p wa -k id", "-a always,exit -F path=/etc/passwd -F perm=wa -k id"),
        ("-w /etc/ -p w", "-a always,exit -F dir=/etc -F perm=w"),
        (
            "-a exit,always -F arch=b32 -S 8,open,999 -F auid!=-1 -F key=x -k y",
            "-a always,exit -F arch=b32 -S open,creat,999 -F auid!=unset -k x -k y",
        ),
        (
            "-A never,exclude -F msgtype=1307 -F exe=/a\\ b",
            "-A never,exclude -F msgtype=CWD -F exe=/a\\ b",
        ),
        (
            "-a always,exit -F exit=-13 -F a0&=16",
            "-a always,exit -S all -F exit=-EACCES -F a0&=0x10",
        ),
        ("-S , -a always,exit", "-a always,exit -S ,"),
        ("-a always,user -F a0=1 -p wr", "-a always,user -F a0=0x1 -p rw"),
        ("-S open -a always,user -k u", "-S open -a always,user -k u"),
        ("-w /a!=b -p r -k \\\\", "-w /a!=b -p r -k \\\\"),
    ],
)
def test_text_is_as_people_write_it(line: str, text: str) -> None:
    assert text_of(loaded(line)) == text


def test_calls_beyond_the_names_are_numbers_and_long_lists_are_shortened() -> None:
    many = replace(EXIT, mask=(1 << 1100) - 1)
    line = text_of(many)
    assert len(line) <= LONGEST_LINE < len(listed_line(many))
    assert loaded(line) == many


@pytest.mark.parametrize(
    "rule",
    [
        replace(EXIT, mask=(1 << 2031) - 1),  # a line of more than 6143 bytes
        replace(EXIT, mask=1 << 2040),
        replace(EXIT, list=FilterList.TASK, mask=1),
        replace(EXIT, list=FilterList.EXCLUDE, key="k"),
        replace(EXIT, list=FilterList.TASK, mask=0, key="k"),
        replace(EXIT, conditions=(FieldTest("perm", Operator.EQUAL, 0),)),
        replace(EXIT, conditions=(FieldTest("filetype", Operator.EQUAL, 1),)),
        replace(EXIT, conditions=(FieldTest("exe", Operator.EQUAL, "/a>=b"),)),
        replace(EXIT, conditions=(FieldTest("path", Operator.EQUAL, "/a>=b"),)),
        replace(EXIT, conditions=(FieldTest("subj_user", Operator.EQUAL, ""),)),
        replace(EXIT, key="a\nb"),
    ],
)
def test_what_no_line_says_is_refused(rule: KernelRule) -> None:
    with pytest.raises(UnwritableRuleError):
        text_of(rule)


# With the habits of auditctl 3.0.9: a watch's path has no space before it, and the action of a rule
# that looks like a watch is lost, as is the operator of exe.
LISTED = [
    ("-w /etc/passwd -p wa -k identity", "-w /etc/passwd -p wa -k identity"),
    ("-w /etc/ -p wa", "-w /etc -p wa"),
    ("-a always,exit -F path=/x -F perm=aw", "-w /x -p wa"),
    ("-a never,exit -F perm=x", " -p x"),
    ("-a always,exit -F perm=x -F path=/a", " -p x-w /a"),
    (
        "-a exit,always -F arch=b64 -S openat,execve -F auid>=1000 -F auid!=4294967295 -k x -k y",
        "-a always,exit -F arch=b64 -S execve,openat -F auid>=1000 -F auid!=-1 -F key=x -F key=y",
    ),
    ("-a always,exit -F arch=b32 -S 8", "-a always,exit -F arch=b32 -S creat"),
    ("-a always,exit -S all -F exit=-13", "-a always,exit -S all -F exit=-EACCES"),
    ("-a always,exit -S 999 -F exit>5", "-a always,exit -S 999 -F exit>5"),
    ("-a always,exit -F a1&0x40 -S read", "-a always,exit -S read -F a1&0x40"),
    ("-a always,exit -F inode=4294967295", "-a always,exit -S all -F inode=4294967295"),
    ("-a always,exit -F pid=4294967295", "-a always,exit -S all -F pid=-1"),
    ("-a always,exit -F exe!=/bin/x", "-a always,exit -S all -F exe=/bin/x"),
    ("-a always,exit -C obj_uid!=auid", "-a always,exit -S all -C auid!=obj_uid"),
    ("-a always,exit -F filetype=dir", "-a always,exit -S all -F filetype=16384"),
    ("-a never,task -F uid=5", "-a never,task -F uid=5"),
    ("-A never,exclude -F msgtype>=1305", "-a never,exclude -F msgtype>=CONFIG_CHANGE"),
    ("-a never,exclude -F msgtype=9999", "-a never,exclude -F msgtype=9999"),
    ("-a never,filesystem -F fstype=0x64626720", "-a never,filesystem -F fstype=debugfs"),
    ("-a never,user -F sessionid=unset", "-a never,user -F sessionid=-1"),
]


@pytest.mark.parametrize(("line", "text"), LISTED)
def test_rules_are_listed_as_auditctl_lists_them(line: str, text: str) -> None:
    assert listed_line(loaded(line)) == text


def test_a_listing_is_by_list_with_prepended_rules_first() -> None:
    lines = ["-w /a", "-a never,exclude -F pid=1", "-A always,exit -S read", "-a never,task"]
    assert listing([loaded(line) for line in lines]) == (
        "-a never,task",
        "-a always,exit -S read",
        "-w /a -p rwxa",
        "-a never,exclude -F pid=1",
    )


def test_a_rule_without_arch_is_listed_in_the_names_of_the_one_before() -> None:
    lines = ["-a always,exit -S read", "-a always,exit -F arch=b32 -S read", "-a always,exit -S 0"]
    assert listing([loaded(line) for line in lines])[::2] == (
        "-a always,exit -S read",
        "-a always,exit -S restart_syscall",
    )

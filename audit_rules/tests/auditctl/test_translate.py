from __future__ import annotations

from dataclasses import replace

import pytest

from auditrules.auditctl.translate import AS_WRITTEN, Target, translate, translate_all
from auditrules.model.fault import RulesError
from auditrules.model.kernel_rule import (
    ALL_CALLS,
    Action,
    FieldTest,
    FilterList,
    IdComparison,
    KernelRule,
    Operator,
)
from auditrules.model.location import Location
from auditrules.model.rule import Rule
from auditrules.read.parse import read_line
from auditrules.tables import lookup

EQUAL = Operator.EQUAL
AUDITCTL_4 = replace(AS_WRITTEN, auditctl="4.0.2")


def rule_of(text: str, target: Target = AS_WRITTEN) -> KernelRule:
    return translate(Rule(text), target)


def mask(arch: lookup.Arch, *names: str) -> int:
    return sum(1 << lookup.calls(arch)[name] for name in names)


def test_a_rule_becomes_list_action_mask_conditions_and_key() -> None:
    line = "-a always,exit -F arch=b32 -S open,openat -F auid>=1000 -C uid!=euid -k a -k b"
    assert rule_of(line) == KernelRule(
        FilterList.EXIT,
        Action.ALWAYS,
        mask("b32", "open", "openat"),
        (
            FieldTest("arch", EQUAL, 0x40000003),
            FieldTest("auid", Operator.GREATER_OR_EQUAL, 1000),
            IdComparison("uid", Operator.NOT_EQUAL, "euid"),
        ),
        "a\x01b",
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("-a exit,never -S open", "-a never,exit -S open"),
        ("-a always,exit -S open -S read", "-a always,exit -S open,read"),
        ("-a always,exit -F arch=x86_64 -S open", "-a always,exit -F arch=b64 -S 2"),
        ("-w /x/ -p wa -k k", "-a always,exit -F dir=/x -F perm=wa -F key=k"),
        ("-w /x", "-a always,exit -F path=/x -F perm=rwxa"),
        ("-w /x -p r -p w", "-w /x -p w"),
        ("-a always,exit -F auid=-1 -S 1", "-a always,exit -F loginuid=unset -S 1"),
        ("-a always,exit -F auid=4294967295 -S 1", "-a always,exit -F auid=unset -S 1"),
        ("-a always,exit -F exit=-13 -S 1", "-a always,exit -F exit=-EACCES -S 1"),
        ("-a always,exit -C euid!=uid -S 1", "-a always,exit -C uid!=euid -S 1"),
        ("-a always,exit -F a0=0x10 -S 1", "-a always,exit -F a0=020 -S 1"),
        ("-a always,exit -F uid=root -S 1", "-a always,exit -F uid=0 -S 1"),
    ],
)
def test_two_ways_to_write_one_rule(one: str, other: str) -> None:
    assert rule_of(one) == rule_of(other)


def test_calls_that_are_not_named_are_all() -> None:
    assert rule_of("-a always,exit -F dir=/etc -F perm=wa").mask == ALL_CALLS
    assert rule_of("-a always,exit -S all").mask == ALL_CALLS
    assert rule_of("-a never,task").mask == 0


def test_the_highest_numbers_stand_for_classes_of_calls() -> None:
    # 2047 is AUDIT_CLASS_DIR_WRITE, the class with number 0
    named = {call for call in range(2032) if rule_of("-a always,exit -S 2047").names(call)}
    assert named == lookup.class_calls("b64", "dir_write")


def test_a_watch_is_a_directory_where_the_target_says_so() -> None:
    assert rule_of("-w /etc/selinux -p wa").path == "/etc/selinux"
    target = Target(is_directory=lambda path: path == "/etc/selinux")
    assert rule_of("-w /etc/selinux -p wa", target).directory == "/etc/selinux"


def test_a_name_that_only_the_target_knows_stays_a_name() -> None:
    assert rule_of("-a always,exit -S 1 -F uid=apache").conditions[0] == FieldTest(
        "uid", EQUAL, "apache"
    )
    known = Target(users={"apache": 48})
    assert rule_of("-a always,exit -S 1 -F uid=apache", known).conditions[0] == FieldTest(
        "uid", EQUAL, 48
    )


@pytest.mark.parametrize(
    ("line", "column", "message", "remedy"),
    [
        ("-a always,exit -F arch=b33 -S open", 19, "b33", "b3"),
        ("-a always,exit  -S opne", 20, "opne", "open"),
        ("-a always,exit -F arch=b64 -S umount", 31, "umount", "arch=b32"),
        ("-a always,exit -F auidd>=1", 19, "auidd", "auid"),
        ("-a allways,exit -S open", 4, "allways", "always"),
        ("-a always,exit -S open -F arch=b64", 27, "after -S", "before -S"),
        ("-a always,exit -F exit=-EACES", 19, "EACES", "EACCES"),
        ("-a always,exit -F path!=/x -S open", 19, "takes only the operator =", "path"),
        ("-a always,exit -F uid&1 -S open", 19, "bits", "a0"),
        ("-a always,exit -F auid>=unset -S open", 19, "= and !=", "use"),
        ("-a always,exit -F uid=unset -S open", 19, "unset", "auid"),
        ("-a always,exit -C uid!=gid", 19, "compared", "group ids"),
        ("-a always,exit -k x", 19, "-k needs", "-S all"),
        ("-w etc/passwd", 4, "begin with /", "whole path"),
        ("-w /x -p rq", 10, "'q'", "r, w, x"),
        ("-a never,exclude -F exit=1", 21, "exit", "msgtype"),
        ("-a always,task -S open", 19, "takes no system calls", "remove"),
        ("-a always,exit -F fstype=debugfs", 19, "fstype", "filesystem"),
        ("-a always,exit -F msgtype=AVCC", 19, "msgtype", "exclude"),
        ("-a always,exit -F saddr_fam=99 -S bind", 19, "99", "45"),
        ("-a always,exit -S open -k " + "k" * 257, 27, "257 bytes", "shorten"),
    ],
)
def test_a_fault_has_column_and_remedy(line: str, column: int, message: str, remedy: str) -> None:
    rule = read_line(line, Location("x.rules", 7)).rule
    assert rule is not None
    with pytest.raises(RulesError) as caught:
        translate(rule)
    (fault,) = caught.value.faults
    assert (fault.place.file, fault.place.line, fault.place.column) == ("x.rules", 7, column)
    assert message in fault.message
    assert fault.remedy is not None
    assert remedy in fault.remedy


@pytest.mark.parametrize(
    "line",
    [
        "-a always,exit -F path=/a -F dir=/b",
        "-a always,exit -F path=/a -F inode=5",
        "-a always,exit -F exe=/a -F exe=/b -S 1",
        "-a always,exit -F path=/a/ -S 1",
    ],
)
def test_what_a_rule_may_hold_but_once_is_refused_twice(line: str) -> None:
    with pytest.raises(RulesError):
        rule_of(line)


def test_faults_of_some_rules_leave_the_others() -> None:
    lines = ("-a always,exit -S open", "-a always,exit -S nope", "-w /x")
    taken, faults = translate_all([Rule(line) for line in lines])
    assert [rule.source.text for rule in taken if rule.source] == [lines[0], lines[2]]
    assert len(faults) == 1


@pytest.mark.parametrize(
    ("arch", "name", "number"),
    [
        ("b64", "openat", 257),
        ("b32", "openat", 295),
        ("b32", "umount", 22),
        ("b64", "getppid", 110),
    ],
)
def test_calls_have_the_numbers_of_their_architecture(
    arch: lookup.Arch, name: str, number: int
) -> None:
    assert lookup.calls(arch)[name] == number
    assert lookup.call_name(arch, number) == name


def test_a_class_is_its_names_in_the_architectures_own_numbers() -> None:
    assert lookup.calls("b32")["truncate64"] in lookup.class_calls("b32", "write")
    assert lookup.calls("b64")["rename"] in lookup.class_calls("b64", "write")
    assert lookup.calls("b64")["open"] not in lookup.class_calls("b64", "read")


@pytest.mark.parametrize(
    ("line", "calls"),
    [
        ("-a always,exit -F arch=b64 -F path=/x -F perm=x", "execve"),
        ("-a always,exit -S mount -F path=/x -F perm=x", "mount,execve"),
        ("-a never,exit -F arch!=b32 -S mount -F perm=x -F path=/x", "mount,execve"),
        ("-a always,exit -F arch=b64 -F perm=x -F path=/x -S mount", "mount,execve"),
        (
            "-a always,exit -F arch=b64 -F path=/x -F perm=r -F perm=x",
            (
                "execve,open,readlink,quotactl,getxattr,lgetxattr,fgetxattr,listxattr,llistxattr,"
                "flistxattr,openat,readlinkat,openat2"
            ),
        ),
        (
            "-a always,exit -F arch=b32 -F path=/x -F perm=a",
            (
                "link,chmod,lchown,fchmod,fchown,chown,setxattr,lsetxattr,fsetxattr,removexattr,"
                "lremovexattr,fremovexattr,fchownat,linkat,fchmodat"
            ),
        ),
        (
            "-a always,exit -F arch=b32 -F path=/x -F perm=w",
            (
                "open,creat,link,unlink,mknod,rename,mkdir,rmdir,acct,symlink,swapon,truncate,"
                "ftruncate,quotactl,openat,mkdirat,mknodat,unlinkat,renameat,linkat,symlinkat,"
                "fallocate,renameat2,bind,openat2"
            ),
        ),
    ],
)
def test_auditctl_4_names_the_calls_of_permissions_where_the_architecture_is_known(
    line: str, calls: str
) -> None:
    arch: lookup.Arch = "b32" if "b32" in line else "b64"
    assert rule_of(line, AUDITCTL_4).mask == mask(arch, *calls.split(","))
    assert rule_of(line).mask in {ALL_CALLS, mask(arch, "mount")}


@pytest.mark.parametrize(
    "line",
    [
        "-a always,exit -F path=/x -F perm=x",
        "-a always,exit -F path=/x -F perm=x -F arch=b64",
        "-a always,exit -F path=/x -F perm=x -S mount",
        "-a always,exit -F arch=b64 -S all -F path=/x -F perm=x",
        "-w /x -p x",
        "-w /x -S mount -F perm=x",
    ],
)
def test_auditctl_4_names_no_further_calls_otherwise(line: str) -> None:
    assert rule_of(line, AUDITCTL_4).mask == rule_of(line).mask

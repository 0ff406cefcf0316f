"""Sets of rules to be proved: real ones, drawn ones, and what loads of them."""

from __future__ import annotations

from hypothesis import strategies as st

from auditrules.auditctl.translate import AS_WRITTEN, translate, translate_all
from auditrules.model.kernel_lists import accepted_rules
from auditrules.model.kernel_rule import KernelRule
from auditrules.model.rule import Rule
from auditrules.prove.prove import prove_equal
from auditrules.prove.relation import Relation, Result


def rules(*lines: str) -> list[KernelRule]:
    return [translate(Rule(line), AS_WRITTEN) for line in lines]


def proved(a: tuple[str, ...], b: tuple[str, ...], relation: Relation | None = None) -> Result:
    return prove_equal(rules(*a), rules(*b), relation or Relation())


STIG = (
    "-a always,exit -F arch=b32 -S adjtimex,settimeofday,stime -F key=time-change",
    "-a always,exit -F arch=b64 -S adjtimex,settimeofday -F key=time-change",
    "-a always,exit -F arch=b64 -S clock_settime -F a0=0x0 -F key=time-change",
    "-w /etc/localtime -p wa -k time-change",
    "-w /etc/group -p wa -k identity",
    "-w /etc/passwd -p wa -k identity",
    "-w /etc/shadow -p wa -k identity",
    "-a always,exit -F dir=/etc/NetworkManager/ -F perm=wa -F key=system-locale",
    "-a never,exit -F arch=b64 -S chmod -F auid=1001",
    "-a always,exit -F arch=b32 -S chmod,fchmod,fchmodat -F auid>=1000 -F auid!=unset -k perm_mod",
    "-a always,exit -F arch=b64 -S chmod,fchmod,fchmodat -F auid>=1000 -F auid!=unset -k perm_mod",
    "-a always,exit -F arch=b64 -S open,creat,openat -F exit=-EACCES -F auid>=1000 -k access",
    "-a always,exit -F arch=b64 -S open,creat,openat -F exit=-EPERM -F auid>=1000 -k access",
    "-a always,exit -F arch=b64 -S unlink,unlinkat,rename,renameat -F auid>=1000 -k delete",
    "-w /etc/sudoers -p wa -k actions",
)


OTHER = "-a always,exit -S read"
ALWAYS, NEVER = "-a always,exit -S openat -k a", "-a never,exit -S openat -F uid=0"


def edited(index: int, old: str, new: str) -> tuple[str, ...]:
    """Return the set `STIG` with one edit of one rule."""
    assert old in STIG[index]
    return (*STIG[:index], STIG[index].replace(old, new), *STIG[index + 1 :])


FIELDS = st.sampled_from([
    "arch=b64", "arch=b32", "auid>=1000", "auid!=unset", "auid=unset", "uid=0", "uid!=0", "euid<5",
    "gid=5", "gid!=5", "egid=5", "gid<=5", "exit=-13", "exit=-1", "exit>0", "success=0",
    "success=1", "success!=0", "a0=0", "a1&1", "a2&=3", "pid>5", "ppid=1", "sessionid=4",
    "pers=8", "exe=/bin/p", "exe!=/bin/p", "dir=/w", "dir=/w/sub/", "perm=w", "perm=r",
    "perm=wa", "perm=x", "obj_uid=0", "obj_uid!=1000", "obj_gid=5", "inode!=1000", "devmajor=8",
    "devminor!=1", "filetype=file", "filetype!=dir", "saddr_fam=2", "obj_type=t", "obj_type!=t",
    "subj_user=u", "subj_user!=u",
])  # fmt: skip
PLACES = st.sampled_from(["", "", "path=/w/f", "path=/w/sub/g", "path=/x", "inode=1001", "inode=9"])
PAIRS = st.sampled_from(["", "", "", "uid=euid", "uid!=obj_uid", "auid=fsuid", "gid=obj_gid"])
NAMED = st.sampled_from(["open", "openat", "openat2", "chmod,openat", "rename", "all", "execve"])


@st.composite
def lines(draw: st.DrawFn) -> str:
    fields = draw(st.lists(FIELDS, max_size=3, unique=True))
    place, pair = draw(PLACES), draw(PAIRS)
    if any(one.startswith(("dir=", "inode")) for one in fields):
        place = ""
    fields.sort(key=lambda one: not one.startswith("arch="))
    words = [f"-a {draw(st.sampled_from(['always', 'always', 'never']))},exit"]
    words += [f"-F {one}" for one in fields if one.startswith("arch=")][:1]
    words += [f"-S {draw(NAMED)}"]
    words += [f"-F {one}" for one in (*fields, place) if one and not one.startswith("arch=")]
    words += [f"-C {pair}"] if pair else []
    words += [f"-k {key}" for key in [draw(st.sampled_from(["", "one", "two"]))] if key]
    line = " ".join(words)
    return line.replace("-a ", "-A ", 1) if draw(st.integers(0, 9)) == 0 else line


SETS = st.lists(lines(), max_size=5, unique=True)
RELATIONS = st.builds(Relation, st.booleans(), st.booleans(), st.booleans(), st.booleans())


@st.composite
def pairs_of_sets(draw: st.DrawFn) -> tuple[list[str], list[str]]:
    """Two sets that have much in common."""
    first = draw(SETS)
    second = list(draw(st.permutations(first)))
    for line in draw(st.lists(lines(), max_size=2)):
        if line not in second:
            second.insert(draw(st.integers(0, len(second))), line)
    if draw(st.booleans()) and second:
        second.pop(draw(st.integers(0, len(second) - 1)))
    return first, second


def loadable(text: list[str]) -> list[KernelRule]:
    """Return rules without those that auditctl or the kernel would refuse."""
    rules = translate_all([Rule(line) for line in text], AS_WRITTEN)[0]
    return [rules[index] for index in accepted_rules(rules)]

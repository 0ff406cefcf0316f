"""Lines of audit rules, good and bad, written by hand and at random, to hold auditctl to."""

from __future__ import annotations

import random

BY_HAND = r"""
-w /etc/passwd -p wa -k identity
-w /etc/passwd
-w /etc -p rwxa -k tree
-w /etc/ -p RW
-w / -p x
-w /etc/passwd/ -p w
-w //etc///shadow -p a
-w relative -p w
-w /etc/../etc/group
-w /etc/./gshadow
-w /etc/.
-w /tmp/*
-w /tmp/a\ b -k a\ b
-w /tmp/a\\b -k a\\b
-w /tmp/a\b
-w /tmp/a!=b -p w
-w /tmp/a -p
-w /tmp/a -p z
-w /tmp/a -p rwxar
-w /tmp/a -p rrww
-w /tmp/b -p w -p r
-w /tmp/c -k one -k two
-w /tmp/c2 -F key=one -k two
-w /tmp/d -F auid>=1000
-w /tmp/e -F arch=b64
-w /tmp/f -S open
-w /tmp/g -a always,exit
-w /tmp/h -w /tmp/i
-w /tmp/j -F path=/tmp/k
-w /tmp/l -F perm=r
-a always,exit -w /tmp/m
-a always,exit -S open
-a exit,always -S close
-a always,exit
-a exit -S open
-a always -S open
-a always,exit,task
-a always,always
-a exit,exit
-a possible,exit -S open
-a always,entry -S open
-a always,watch
-a never,exit -S all
-a always,exit -S ALL
-a always,exit -S open,close,,read
-a always,exit -S ,open
-a always,exit -S ,
-a always,exit -S open, -S close -S 17
-a always,exit -S nonesuch
-a always,exit -S open,nonesuch
-a always,exit -S 2047
-a always,exit -S 2048
-a always,exit -S 2031
-a always,exit -S 2032
-a always,exit -S 0x10
-a always,exit -S 010
-a always,exit -S 5x
-a always,exit -S -1
-a always,exit -S 99999999999
-a always,exit -S 4294967297
-a always,exit -S open -F arch=b64
-a always,exit -F arch=b32 -S open -F arch=b64
-a always,exit -F arch=b32 -F arch=b64 -S creat
-a always,exit -F arch!=b32 -S creat
-a always,exit -F arch>b32 -S creat
-a always,exit -F arch=B64 -S chmod
-a always,exit -F arch=x86_64 -S chown
-a always,exit -F arch=i386 -S chown
-a always,exit -F arch=i686 -S chown32
-a always,exit -F arch=I386 -S chmod
-a always,exit -F arch=i786 -S chmod
-a always,exit -F arch=b33 -S chmod
-a always,exit -F arch=b16 -S chmod
-a always,exit -F arch=0xC000003E -S fchmod
-a always,exit -F arch=c000003e -S fchmod
-a always,exit -F arch=C000003E -S fchown
-a always,exit -F arch=0x40000003 -S fchown
-a always,exit -F arch=40000003 -S lchown
-a always,exit -F arch=1073741827 -S lchown
-a always,exit -F arch=3221225534 -S lchown
-a always,exit -F arch=0xC00000B7 -S lchown
-a always,exit -F arch=5
-a always,exit -F arch=b64 -S stime
-a always,exit -F arch=b32 -S umount
-a always,exit -F arch=b64
-a always,exit -F uid=root
-a always,exit -F gid=root
-a always,exit -F uid=-1
-a always,exit -F uid=unset
-a always,exit -F uid=-2
-a always,exit -F gid=-1
-a always,exit -F gid=unset
-a always,exit -F gid=4294967295
-a always,exit -F gid=4294967294
-a always,exit -F uid=4294967296
-a always,exit -F uid=99999999999999999999
-a always,exit -F gid=99999999999999999999
-a always,exit -F pid=99999999999999999999
-a always,exit -F auid=-99999999999999999999
-a always,exit -F auid=unset
-a always,exit -F auid!=unset
-a always,exit -F auid>=unset
-a always,exit -F auid!=-1 -S read
-a always,exit -F auid!=4294967295 -S write
-a always,exit -F loginuid=1000
-a always,exit -F auid&1000
-a always,exit -F auid&=1000
-a always,exit -F uid>=0x10
-a always,exit -F uid>=010
-a always,exit -F uid>=08
-a always,exit -F uid>=1k
-a always,exit -F euid<10 -F suid<=11 -F fsuid>12 -F egid!=13 -F sgid=14 -F fsgid=15
-a always,exit -F obj_uid=5 -F obj_gid=6
-a always,exit -F auid
-a always,exit -F auid=
-a always,exit -F =5
-a always,exit -F auid==5
-a always,exit -F auid=!5
-a always,exit -F auid=<5
-a always,exit -F auid<>5
-a always,exit -F a=b!=c
-a always,exit -F nonesuch=5
-a always,exit -F AUID=5
-a always,exit -F exit=-EACCES
-a always,exit -F exit=EACCES
-a always,exit -F exit=-13
-a always,exit -F exit=13
-a always,exit -F exit!=0
-a always,exit -F exit=-NONESUCH
-a always,exit -F exit=-
-a always,exit -F exit&5
-a always,exit -F exit>=-5
-a always,exit -F exit=-EWOULDBLOCK
-a always,exit -F success=1
-a always,exit -F success=0
-a always,exit -F success!=2
-a always,exit -F success=yes
-a always,exit -F success=-1
-a always,exit -F pid=1 -F ppid!=2
-a always,exit -F pid=-1
-a always,exit -F pers=8
-a always,exit -F pers&8
-a always,exit -F pers&=0x8
-a always,exit -F devmajor=8 -F devminor&1
-a always,exit -F devmajor&8
-a always,exit -F inode=2
-a always,exit -F inode!=2
-a always,exit -F inode>2
-a always,exit -F inode=4294967295
-a always,exit -F inode=2 -F inode=3
-a always,exit -F inode!=2 -F inode!=3
-a always,exit -F inode=2 -F path=/tmp/n
-a always,exit -F path=/tmp/n -F inode!=2
-a always,exit -F dir=/etc -F inode!=5
-a always,exit -F inode!=5 -F dir=/etc
-a always,exit -F path=/tmp/p
-a always,exit -F path=/tmp/p -F perm=w -k p
-a always,exit -F path=/tmp/p/
-a always,exit -F path=tmp
-a always,exit -F path!=/tmp/p
-a always,exit -F path=/tmp/p -F path=/tmp/q
-a always,exit -F path=/tmp/p -F dir=/tmp
-a always,exit -F dir=/tmp -F path=/tmp/p
-a always,exit -F dir=/tmp -F dir=/etc
-a always,exit -F dir=/tmp
-a always,exit -F dir=/tmp/ -F perm=r
-a always,exit -F dir=/tmp/../tmp
-a always,exit -F path=/tmp/../tmp/r
-a always,exit -F path=/tmp/..
-a always,exit -F path=/
-a always,exit -F dir=/
-a always,exit -F dir!=/etc
-a always,exit -F dir=/etc/passwd
-a always,exit -F dir=etc
-a always,exit -F path=/tmp/x=y
-a always,exit -F path=/tmp/x>=y
-a always,exit -F path=/tmp/x>y
-a always,exit -F exe=/bin/sh
-a always,exit -F exe!=/bin/sh
-a always,exit -F exe>/bin/sh
-a always,exit -F exe=/bin/sh -F exe=/bin/ls
-a always,exit -F exe=/bin/sh -k shell
-a always,exit -F exe=/bin/
-a always,exit -F exe=/nonesuch
-a always,exit -F exe=bin
-a always,exit -F exe=/
-a always,exit -F perm=wa
-a always,exit -F perm=x -F path=/tmp/s
-a always,exit -F perm=q
-a always,exit -F perm!=w
-a always,exit -F perm=rwxaa
-a always,exit -F perm=XA -k upper
-a always,exit -F perm=r -F perm=w
-a always,exit -F perm=r -p w
-a always,exit -p w
-a always,exit -S read -p w
-p w -a always,exit
-a always,exit -F filetype=file
-a always,exit -F filetype=dir -F path=/tmp/t
-a always,exit -F filetype!=socket
-a always,exit -F filetype>link
-a always,exit -F filetype=nonesuch
-a always,exit -F filetype=5
-a always,exit -F fstype=tracefs
-a always,exit -F msgtype=1300
-a always,exit -F sessionid=5
-a always,exit -F sessionid=unset
-a always,exit -F sessionid=-1
-a always,exit -F sessionid!=4294967295
-a always,exit -F sessionid=abc
-a always,exit -F saddr_fam=2
-a always,exit -F saddr_fam!=10
-a always,exit -F saddr_fam=45
-a always,exit -F saddr_fam=46
-a always,exit -F saddr_fam=inet
-a always,exit -F saddr_fam=-1
-a always,exit -F saddr_fam&1
-a always,exit -F a0=0 -F a1!=1 -F a2<2 -F a3>=3
-a always,exit -F a0&4 -F a1&=0x40
-a always,exit -F a0=-1
-a always,exit -F a0=-100
-a always,exit -F a0=abc
-a always,exit -F a0=0xFFFFFFFFFFFFFFFF
-a always,exit -F a4=1
-a always,exit -F subj_user=root
-a always,exit -F subj_user>root
-a always,exit -F subj_sen&s0
-a always,exit -F obj_user=u -F obj_role=r -F obj_type=t -F obj_lev_low=s0 -F obj_lev_high=s1
-a always,exit -F field_compare=1
-a always,exit -F field_compare=25
-a always,exit -F key=k1
-a always,exit -S read -F key=k2
-a always,exit -S read -F key=k3 -F key=k4 -k k5
-a always,exit -S read -F key!=k6
-a always,exit -S read -F key>k6
-a always,exit -S read -F key!=k6 -k k7
-a always,exit -S read -F key=
-a always,exit -F uid=7 -k k8
-a always,exit -F uid=8 -F key=k9
-a always,exit -F perm=r -k k10
-a always,exit -k k11 -S read
-a always,exit -F key=k12 -S read
-k k13 -a always,exit -S read
-a always,exit -S read -k -S
-a always,exit -S read -k --
-a always,exit -S read --
-a always,exit -S read -- -k k14
-a always,exit -S read -kk15
-a always,exit -Sread,write -Fuid=3 -kk16
-aalways,exit -S write -k k17
-aalways,exit -Farch=b64 -Sopen -F uid=1
-a always,exit -S read extra
-a always,exit -S read "-k" x
-a always,exit -C uid!=euid
-a always,exit -C euid!=uid
-a always,exit -C auid=obj_uid -S chmod
-a always,exit -C obj_gid=sgid
-a always,exit -C uid=gid
-a always,exit -C uid=uid
-a always,exit -C uid>euid
-a always,exit -C uid
-a always,exit -C uid!=
-a always,exit -C =uid
-a always,exit -C uid==euid
-a always,exit -C nonesuch=uid
-a always,exit -C uid=nonesuch
-a always,exit -C loginuid=uid
-a always,exit -C fsuid=auid -C gid!=egid -k cmp
-C uid=euid -a always,exit
-a always,task -C uid!=euid
-a always,user -C uid!=euid
-a always,exclude -C uid!=euid
-a always,task
-a never,task -F uid=5
-a never,task -F auid!=unset -F pid=3
-a never,task -F exit=5
-a never,task -F path=/tmp/u
-a never,task -F exe=/bin/sh
-a never,task -F exe=/bin/sh -k tk
-a never,task -F arch=b64
-a never,task -F a0=1
-a never,task -F success=1
-a never,task -F ppid=1
-a never,task -F sessionid=1
-a never,task -F msgtype=1300
-a never,task -F subj_type=t
-a never,task -F obj_uid=1
-a never,task -F saddr_fam=2
-a never,task -F pers=8
-a never,task -F perm=r
-a never,task -F filetype=dir
-a never,task -F inode=5
-a never,task -F devmajor=5
-a never,task -F obj_type=t
-a never,task -S open
-S open -a never,task
-a never,task -k k18
-a never,task -F pid=33 -p x
-a always,user -F a0!=1 -p r -F fsgid<=1
-a always,exclude -F pid=44 -p w
-a never,filesystem -F fstype=0x77 -p r
-a never,filesystem -F fstype=0x78 -C uid!=euid
-a never,task -p r
-a always,user
-a always,user -F uid=5
-a always,user -F msgtype=1107
-a always,user -F msgtype=USER_LOGIN
-a always,user -F msgtype=NONESUCH
-a always,user -S open
-S open -a always,user
-a always,user -F subj_type=t -F pid=5 -F gid=6
-a always,user -F exe=/bin/sh -k uk
-a always,user -F arch=b64
-a always,user -F a0=1
-a always,user -F exit=1
-a always,user -F sessionid=3
-a never,exclude
-a never,exclude -F msgtype=CWD
-a always,exclude -F msgtype=EOE
-a always,exclude -F msgtype>=1300 -F msgtype<=1399
-a always,exclude -F msgtype=cwd
-a always,exclude -F msgtype=1300x
-a always,exclude -F msgtype=-5
-a always,exclude -F msgtype&5
-a always,exclude -F uid=5 -F gid=6 -F auid=7 -F pid=8
-a always,exclude -F loginuid=9
-a always,exclude -F auid=unset
-a always,exclude -F euid=5
-a always,exclude -F subj_type=t
-a always,exclude -F exe=/bin/sh
-a always,exclude -F exe=/bin/sh -k ek
-a always,exclude -F exe!=/bin/ls
-a always,exclude -F sessionid=5
-a always,exclude -F arch=b64
-a always,exclude -F path=/tmp/v
-a always,exclude -F ppid=1
-a always,exclude -F key=abc
-a always,exclude -F msgtype=1400 -k abc
-a always,exclude -S open
-S open -a always,exclude
-a never,filesystem -F fstype=tracefs
-a never,filesystem -F fstype!=debugfs
-a never,filesystem -F fstype=0x9fa0
-a never,filesystem -F fstype=ext4
-a never,filesystem -F fstype>tracefs
-a never,filesystem -F fstype=4294967295
-a never,filesystem -F fstype=tracefs -k fk
-a never,filesystem -F fstype=tracefs -F key=fk2
-a never,filesystem
-a never,filesystem -F uid=5
-a never,filesystem -F path=/tmp/w
-a never,filesystem -S open
-A always,exit -S rename -k pre
-A exit,never -S rename
-A always,exit -A always,exit
-a always,exit -A always,exit
-A never,filesystem -F fstype=0x5
-S open -a always,exit
-S open
-F uid=5
-F uid=5 -a always,exit
-F arch=b64 -a always,exit -S open
-k x
-a
-w
-a always,exit -S
-a always,exit -F
-a always,exit -Z
-a always,exit --frobnicate
-a always,exit -b 5
-a always,exit -S open -e 1
-d never,exit -S nothing-here
"""


def by_hand() -> list[str]:
    """Return lines written by hand."""
    return BY_HAND.strip().split("\n")


APART = {
    "-w /nowhere/at/all": "the directory is not there",
    "-a always,exit -F path=/tmp/p/q": "the directory is not there",
    "-a always,exit -F dir=/nonesuch": "the directory is not there",
    "-a always,exit -F exe=/nonesuch/file": "the directory is not there",
    "-a always,exit -F uid=nonesuch-user": "there is no such user",
    "-a always,exit -F gid=nonesuch-group": "there is no such group",
    "-a always,exit -F subj_role=r": "AppArmor has no such profile",
    "-a always,io_uring -S openat": "the list is known from audit 3.1 on",
}
"""Good lines that one machine refuses, and why."""

WITHOUT_A_RULE = (
    "-a exit,possible -S open",
    "-a always,exit -S read -i",
)
"""Lines that auditctl takes without a word, and of which no rule comes."""

_CALLS = [
    "open",
    "openat",
    "close",
    "read",
    "write",
    "execve",
    "chmod",
    "fchown",
    "rename",
    "unlink",
    "mount",
    "5",
    "300",
    "all",
]
_IDS = [
    "uid",
    "euid",
    "suid",
    "fsuid",
    "auid",
    "gid",
    "egid",
    "sgid",
    "fsgid",
    "obj_uid",
    "obj_gid",
]
_VALUES = ["0", "1", "-1", "1000", "4294967295", "unset", "root", "0x10", "5", "7", "2"]
_OPERATORS = ["=", "=", "=", "!=", "!=", "<", "<=", ">", ">=", "&", "&="]
_FIELDS = (
    *_IDS, "pid", "ppid", "pers", "exit", "success", "a0", "a1", "a2", "a3", "inode", "devmajor",
    "devminor", "sessionid", "saddr_fam", "msgtype", "fstype", "subj_type", "obj_lev_low",
)  # fmt: skip
_LISTS = ["exit", "exit", "exit", "exit", "task", "user", "exclude", "filesystem"]
_SPECIAL = (
    "perm=wa", "perm=x", "path=/tmp/f1", "path=/etc/f2", "dir=/etc", "dir=/tmp", "exe=/bin/sh",
    "exe!=/bin/ls", "filetype=file", "filetype!=dir", "arch=b64", "arch=b32", "arch!=b32",
    "msgtype=CWD", "msgtype>=1305", "fstype=tracefs", "key=kf", "exit=-EPERM",
)  # fmt: skip


def at_random(number: int, seed: int = 0) -> list[str]:
    """Return lines that are mostly nearly right."""
    generator = random.Random(seed)  # noqa: S311  (no secret)
    return [_line(generator) for _ in range(number)]


def _line(generator: random.Random) -> str:
    pick = generator.choice
    where = pick(_LISTS)
    words = [[pick(("-a", "-a", "-a", "-A")), f"{pick(('always', 'never'))},{where}"]]
    calls = generator.choices(_CALLS, k=generator.randrange(1, 4))
    for _ in range(generator.randrange(5)):
        kind = generator.random()
        if kind < 0.5:
            words.append(["-F", f"{pick(_FIELDS)}{pick(_OPERATORS)}{pick(_VALUES)}"])
        elif kind < 0.8:
            words.append(["-F", pick(_SPECIAL)])
        elif kind < 0.95:
            words.append(["-C", f"{pick(_IDS)}{pick(('=', '!='))}{pick(_IDS)}"])
        else:
            words.append(["-p", pick(("r", "wa", "q"))])
    if where == "exit" or generator.random() < 0.1:
        words.append(["-S", ",".join(calls)])
    if generator.random() < 0.1:
        generator.shuffle(words)
    if generator.random() < 0.4:
        words.append(["-k", pick(("k1", "k2"))])
    return " ".join(word for option in words for word in option)

"""Good inputs of each kind, for mutators to damage."""

from __future__ import annotations

import bz2
import copy
import gzip
import io
import json
import lzma
import sqlite3
import struct
import tarfile
import tempfile
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

import zstandard
from lxml import etree

from hardcost.machines.vm.content import cpio
from hardcost.model.role import role_of
from hardcost.model.workload import workload_of
from hardcost.store.record import Record
from hardcost.store.store import Store
from hardcost.supply.cache.cache import Cache
from hardcost.supply.packages.debian import package_folder
from hardcost.workloads.metric import MetricSamples

_ROOT = Path(__file__).resolve().parents[3]
_STREAM = "usr/share/xml/scap/ssg/content/ssg-rhel9-ds.xml"
_XCCDF = "{http://checklists.nist.gov/xccdf/1.2}"
_PACKAGES = "ssg-nondebian"

PROFILE = b"""title = "everything that a profile can say"
source = "nowhere"
notes = ["a", "b"]
boot = ["mitigations=off", "audit_backlog_limit=8192"]
kconfig = ["SLAB_FREELIST_RANDOM", "KEXEC=n", "DEFAULT_MMAP_MIN_ADDR=65536"]
kernel = "lean"
lsm = "selinux-enforcing"
[ids]
"mitigations=off" = ["CCE-1"]
[sysctl]
"kernel.kptr_restrict" = 2
kernel.randomize_va_space = "1"
net.ipv4.conf.all.rp_filter = 1
[audit]
backlog_limit = 8192
rules = [
  "-w /etc/passwd -p wa -k ids",
  '''-a always,exit -F arch=b64 -S open,openat -F exit=-EACCES -F auid>=1000 -k "a"''',
  \"\"\"-a never,exit -F auid=unset\"\"\",
]
"""
STUDY = b"""title = "what can be said in a study"
description = "x"
workloads = ["syscalls calls=null+open", "filecopy concurrency=2 files=10", "dd", "fio size=16"]
baseline = "none"
seeds = [0, 1]
repetitions = 2
instrument = "insn"
fresh-boot = true
init = "probe"
record = ["cpu"]
timeout = 60
scale.full = { title = "large", workloads = ["syscalls"], timeout = 100 }
[[configuration]]
name = "none"
[[configuration]]
name = "hard"
profile = "stig-reduced"
scale = "full"
boot = ["audit=0"]
[base]
audit = { backlog_limit = 8192 }
[[axis]]
name = "rules"
values = [0, 1, 20]
audit = { repeat = "-a always,exit -S chmod -F uid={n}", from = 70001 }
[[axis]]
name = "catch-all"
switch = true
audit.rules = ["-a always,exit -S all -F uid=70000"]
[[axis]]
name = "filter"
default = "none"
cumulative = true
[axis.levels.none]
[axis.levels.quiet]
sysctl = { "kernel.kptr_restrict" = 1 }
"""
STRACE = b"""% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 50.00    0.000100           1       100         2 openat
 50.00    0.000100           1        50           read
------ ----------- ----------- --------- --------- ----------------
100.00    0.000200           1       150         2 total
"""
PERF = b"""
 ls (1), 20 events, 90.0%

   syscall            calls  errors  total       min       avg       max       stddev
                                     (msec)    (msec)    (msec)    (msec)        (%)
   --------------- --------  ------ -------- --------- --------- ---------     ------
   openat                12      0     0.110     0.005     0.009     0.030     20.00%
"""
EVENTS = (
    "syscall=openat arch=b64 auid=1000 exit=-13 path=/etc/shadow perm=r",
    "syscall=execve success=no uid=0 path=/usr/bin/su filetype=file obj_uid=0 inode=7 exe=/bin/sh",
    "syscall=59 a0=1 a1=0x10 pers=4 sessionid=3 pid=1 ppid=2 path=/a path=/b",
)
WORKLOADS = (
    "syscalls calls=null+open",
    "filecopy concurrency=4 files=all",
    "fio size=16 cases=latency-read+iops-randrw iops=1000 mbps=200 seconds=3",
    "dd",
    "build",
    "unixbench tests=pipe copies=1",
    "apache-prefork concurrency=2 requests=100",
    "postfix mails=10",
    "mariadb threads=1",
    "command file=/bin/true args=a+b",
)


def rules() -> Sequence[bytes]:
    """Return lines on which auditctl was tested, a few at a time, and whole published files."""
    from audit_rules.tests.lines import at_random, by_hand  # noqa: PLC0415  (slow)

    every = [*by_hand(), *at_random(200)]
    parts = ["\n".join(every[at : at + 4]) for at in range(0, len(every), 4)]
    files = sorted((_ROOT / "src/hardcost/profiles/catalogue").glob("**/*.rules"))
    whole = [file.read_bytes()[:20_000] for file in files[:20]]
    return [*(part.encode(errors="surrogateescape") + b"\n" for part in parts), *whole]


def profiles() -> Sequence[bytes]:
    """Return profiles in TOML: the catalogue's, and one with every key."""
    return [PROFILE, *_data("hardcost.profiles", "catalogue")]


def studies() -> Sequence[bytes]:
    """Return studies in TOML: the ready-made ones, and one with every key."""
    return [STUDY, *_data("hardcost.study", "ready")]


def _data(package: str, folder: str) -> list[bytes]:
    place = Path(str(resources.files(package))) / folder
    return [file.read_bytes() for file in sorted(place.glob("*.toml"))]


def streams() -> Sequence[bytes]:
    """Return datastreams: parts of a real one if it is in the cache, else one made by hand."""
    from tests.profiles.importers.scap.test_rules import file_of, profile, rule, stream  # noqa: PLC0415

    script = file_of("a", "-w /etc/passwd -p wa -k ids", "-a always,exit -S open -k x")
    own = stream(rule("one", script), rule("two"), profile("stig", "rule_one", "rule_two")).encode()
    folder = Cache().root / "packages"
    if not any((one / "files" / _STREAM).exists() for one in folder.glob("*")):
        return [own, *(pack(own) for pack in _PACKINGS)]
    real = etree.parse(package_folder(Cache(), _PACKAGES) / _STREAM)
    return [
        own,
        *(pack(own) for pack in _PACKINGS),
        *(_part_of(real.getroot(), at, 12) for at in range(6)),
    ]


def _part_of(root: etree._Element, at: int, count: int) -> bytes:
    """Return a datastream with the profile stig, and some of the rules that it selects."""
    benchmark = next(root.iter(f"{_XCCDF}Benchmark"))
    chosen = next(
        one for one in benchmark.iter(f"{_XCCDF}Profile") if (one.get("id") or "").endswith("_stig")
    )
    selects = [one.get("idref") for one in chosen.iter(f"{_XCCDF}select")]
    audit = [one for one in selects if one and "audit" in one] + [one for one in selects if one]
    wanted = set(audit[at * count : (at + 1) * count]) | set(selects[at * 40 : at * 40 + 4])
    made = etree.Element(benchmark.tag, nsmap=benchmark.nsmap)
    for kind in ("Profile", "Value", "Rule"):
        for one in benchmark.iter(f"{_XCCDF}{kind}"):
            if (kind == "Profile" and one is chosen) or one.get("id") in wanted:
                made.append(copy.deepcopy(one))
    used = etree.tostring(made).decode()
    for one in benchmark.iter(f"{_XCCDF}Value"):
        if f'"{one.get("id")}"' in used:
            made.insert(0, copy.deepcopy(one))
    return bytes(etree.tostring(made))


def reports() -> Sequence[bytes]:
    """Return kernel-hardening-checker's reports in its three forms."""
    from tests.profiles.importers.test_khc import CHECKS, named, typed, untyped  # noqa: PLC0415

    forms: list[list[Any]] = [
        [named(*one) for one in CHECKS],
        [typed(*one) for one in CHECKS],
        [
            untyped(name, desired, result)
            for name, kind, desired, result in CHECKS
            if kind[0] == "k"
        ],
    ]
    return [json.dumps(one).encode() for one in forms]


_PACKINGS = (gzip.compress, bz2.compress, lzma.compress, zstandard.ZstdCompressor().compress)


def packed() -> Sequence[bytes]:
    """Return data in each packing, some of which become far more."""
    contents = (b"\x7fELF\0depends=jbd2,crc16\0" * 50, bytes(32 << 20))
    return [pack(content) for pack in _PACKINGS for content in contents]


def tars() -> Sequence[bytes]:
    """Return tars of each dialect, with links, holes, long names and chains of headers."""
    from tests.supply.packages.hostile_archives import chain, hard_links, sparse  # noqa: PLC0415

    found = []
    for dialect in (tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT):
        made = io.BytesIO()
        with tarfile.open(fileobj=made, mode="w", format=dialect) as archive:
            for name, kind in (
                *(("usr", tarfile.DIRTYPE), ("usr/lib/" + "a" * 90 + "/b", tarfile.REGTYPE)),
                *(("usr/a", tarfile.REGTYPE), ("usr/hard", tarfile.LNKTYPE)),
                *(("soft", tarfile.SYMTYPE), ("null", tarfile.CHRTYPE)),
            ):
                one = tarfile.TarInfo(name)
                one.type, one.linkname = kind, "usr/a" if kind != tarfile.REGTYPE else ""
                one.size = 600 if kind == tarfile.REGTYPE else 0
                archive.addfile(one, io.BytesIO(bytes(one.size)))
        found.append(made.getvalue())
    chains = (chain(kind, 20) for kind in (b"x", b"g", b"L", b"K"))
    return [*found, *chains, sparse(1 << 20), hard_links(9, 4096)]


def debs() -> Sequence[bytes]:
    """Return packages of Debian's, in each packing and in none."""
    from tests.supply.packages.test_deb import deb  # noqa: PLC0415

    first, *_, last = tars()
    return [deb(tar, pack) for tar in (first, last) for pack in (bytes, *_PACKINGS)]


def cpios() -> Sequence[bytes]:
    """Return cpio archives, as packages and guests have them."""
    from tests.supply.packages.test_rpm import FILES, LINK, archive, entry  # noqa: PLC0415

    linked = [
        entry(f"lib/modules/{name}", data, links=2) for name, data in (("a", b""), ("b", b"x"))
    ]
    linked += [entry("lib/modules/link", b"/etc/passwd", LINK), archive(FILES)]
    own = cpio.archive([cpio.regular("lib/modules/x", b"x" * 90), cpio.link("boot/l", "/etc")])
    return [archive(FILES), b"".join(linked), own]


def rpms() -> Sequence[bytes]:
    """Return RPM packages in each packing."""
    from tests.supply.packages.test_rpm import package  # noqa: PLC0415

    return [package(pack(archive), signature=b"x") for archive in cpios() for pack in _PACKINGS]


def kernels() -> Sequence[bytes]:
    """Return a vmlinux, and a bzImage for each packing."""
    from tests.machines.vm.test_vmlinux import bzimage, elf  # noqa: PLC0415

    bomb = bytes(64 << 20)
    images = [bzimage(pack(content)) for pack in _PACKINGS for content in (elf(), bomb)]
    return [elf(), elf(note_kind=1), *images]


def patches() -> Sequence[bytes]:
    """Return patches as git writes them: those that come with hardcost, and small ones."""
    plain = b"--- a/x.c\n+++ b/x.c\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"
    moved = (
        b"diff --git a/x b/y\nsimilarity index 90%\nrename from x\nrename to y\n"
        b"--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n"
    )
    files = sorted((_ROOT / "linux-audit/patches/6.1").glob("*.patch"))
    return [plain, moved, *(file.read_bytes()[:16_000] for file in files)]


def configurations() -> Sequence[bytes]:
    """Return kernel configurations, gzipped and not."""
    lean = (_ROOT / "src/hardcost/supply/kernels/lean.config").read_bytes()[:8000]
    short = b'CONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C="a\\"b"\nCONFIG_D=0x10\n'
    return [lean, short, gzip.compress(short)]


def histograms() -> Sequence[bytes]:
    """Return counts of calls in their four forms."""
    return [
        STRACE,
        PERF,
        b"Attaching 2 probes...\n\n@calls[0, 1, 257]: 50\n@calls[17]: 2\n",
        b"@[tracepoint:syscalls:sys_enter_read]: 3\n",
        b'{"openat": 12, "read": 3.5}',
        b'{"b64": {"read": 1}, "b32": {"open": 2}}',
    ]


def looks() -> Sequence[bytes]:
    """Return answers of `hardcost here`: of a machine with something of each kind, and of none."""
    items = (
        {"kind": "sysctl", "name": "a=1", "place": "/etc/a:1", "share": 0.1, "known": "measured"},
        {"kind": "audit rule", "name": "-w /y", "share": 0.1, "records": 0.05, "most": "open"},
        {"kind": "audit rule", "name": "-w /x", "share": None, "why": "refused", "accepted": "r"},
        {"kind": "kernel option", "name": "B=y", "by_default": True, "share": 0.0, "note": "n"},
    )
    empty = {"version": 1, "kind": "here", "machine": "m", "words": "", "kernel": "6.1"}
    empty |= {
        "priced_on": "6.1",
        "predicted_on": "6.1",
        "mix": "m",
        "mix_by": "perf",
        "covered": 0.5,
    }
    empty |= {"share": 0.1, "calls": []}
    whole = {"first_rule": 0.1, "counted": 9, "unseen": ["u"], "notes": ["n"]}
    named = [{"id": f"{one['kind']}:{one['name']}", **one} for one in items]
    calls = [{"name": "open", "cost": 1.0, "share": 0.1}]
    found = [{**empty, **whole, "calls": calls, "items": named}, {**empty, "items": []}]
    return [json.dumps(one).encode() for one in found]


def policies() -> Sequence[bytes]:
    """Return what of a machine's hardening is accepted."""
    one = b'[[accept]]\nid = "sysctl:a=1"\nreason = "r"\nuntil = 2027-01-31\n'
    return [one, one + b'[[accept]]\nid = "audit rule:-w /x"\nreason = "s"\n']


def disks() -> Sequence[bytes]:
    """Return the beginnings of disks: MBR with an extended partition, and GPT."""
    mbr = bytearray(8192)
    for at, (kind, begin, size) in enumerate(((0x83, 2, 4), (0x05, 8, 4))):
        mbr[446 + at * 16 + 4] = kind
        struct.pack_into("<II", mbr, 446 + at * 16 + 8, begin, size)
    mbr[510:512] = b"\x55\xaa"
    gpt = bytearray(8192)
    gpt[510:512] = b"\x55\xaa"
    gpt[512:520] = b"EFI PART"
    struct.pack_into("<QII", gpt, 512 + 72, 2, 4, 128)
    gpt[1024:1040] = b"x" * 16
    struct.pack_into("<QQ", gpt, 1024 + 32, 4, 9)
    return [bytes(mbr), bytes(gpt), bytes(2048)]


def record(identity: str = "id") -> Record:
    """Return a record of a trial."""
    metric = MetricSamples(metric="null", unit="insn/op", samples=(1.0, 2.0), fired={"k": 1})
    return Record(
        identity=identity,
        role=role_of("none"),
        workload=workload_of("syscalls calls=null"),
        instrument="insn",
        seed=0,
        repetition=0,
        measured=(metric,),
        environment={"qemu": "7", "packages": "a 1, b 2"},
        start_seconds=0.1,
        host_seconds=2.0,
    )


def records() -> Sequence[bytes]:
    """Return the bodies of records as the store keeps them."""
    return [record().model_dump_json().encode()]


def stores() -> Sequence[bytes]:
    """Return whole stores, and another program's file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "store"
        with Store(path) as store:
            run = store.start("study-1", "plan", "study", fresh=False)
            store.save(run, record())
            store.finish(run, "{}")
            store.save(store.start("study-2", "plan", "study", fresh=False), record("other"))
        other = Path(folder) / "other"
        with sqlite3.connect(other) as connection:
            connection.execute("CREATE TABLE bookmarks (url TEXT)")
        connection.close()
        return [path.read_bytes(), other.read_bytes()]


def answers() -> Sequence[bytes]:
    """Return the probe's answers, a line each."""
    hello = {"event": "hello", "protocol": 1, "probe": "1", "kernel": "6.1", "gap": 3}
    audit = {"records": 2, "lost": 0, "by_key": {"k": 2}}
    clock = {"event": "clock", "clock": "tsc", "overhead": [20, 21]}
    call = {
        "event": "call", "name": "null", "clock": "tsc", "batch": 1, "samples": [120, 121],
        "uid": 1000, "loginuid": 1000, "audit": audit, "output": "",
    }  # fmt: skip
    loaded = {"event": "audit", "exit": 0, "stdout": "", "stderr": "", "loaded": 1}
    written = {"event": "written", "path": "/proc/sys/kernel/kptr_restrict", "before": "0",
               "after": "2"}  # fmt: skip
    command = {
        "event": "command", "status": 0, "signal": None, "ticks": 5000, "user": 1, "system": 2,
        "stdout": "", "stdout_bytes": 0, "stderr": "", "stderr_bytes": 0, "audit": audit,
        "interruptions": 0, "period": 0,
    }  # fmt: skip
    ran = {
        "event": "ran", "name": "latency-read", "status": 0, "signal": None, "ticks": 10,
        "user": 1, "system": 1, "stdout": "{}", "stdout_bytes": 2, "stderr": "",
        "stderr_bytes": 0, "begin": 0, "end": 5, "audit": None,
    }  # fmt: skip
    watched = {
        "event": "watched", "period": 1000, "ticks": 9, "nanoseconds": 9, "times": [1, 2],
        "own": 1, "cpu": None, "audit": {"lost": 0, "backlog_peak": 1, "lost_series": [0, 0],
        "backlog_series": [0, 1]}, "avc": None,
    }  # fmt: skip
    error = {"event": "error", "request": 0, "message": "no", "logs": {"a": "b"}}
    end = {"event": "end"}
    lists = (
        [hello, written, loaded, clock, call, end],
        [hello, loaded, command, end],
        [hello, ran, watched, {**ran, "name": "copy"}, end],
        [hello, error],
    )
    return ["\n".join(map(json.dumps, one)).encode() for one in lists]

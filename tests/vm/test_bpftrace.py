"""The exported scripts under Debian's bpftrace in a guest; what they print is read back."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditrules.cost import histogram
from auditrules.model.rule import Rule
from auditrules.tables import lookup
from hardcost.mechanisms.audit import AuditRule
from hardcost.profiles.export import bpftrace
from hardcost.protocol import ask
from tests.mechanisms.test_export import profile
from tests.vm.export_checks import said, shell, with_packages

# bpftrace brings a compiler of 200 MB, which takes minutes to unpack and start under emulation.
pytestmark = [pytest.mark.vm, pytest.mark.slow, pytest.mark.lengthy]

SECONDS = 3600.0
PACKAGES = (
    "bpftrace",
    "libbpf1",
    "libbpfcc",
    "libbsd0",
    "libclang1-14",
    "libdw1",
    "libedit2",
    "libelf1",
    "libicu72",
    "libllvm14",
    "libmd0",
    "libxml2",
    "libz3-4",
)
ODD = "a b]: 3"
PREPARE = f"""
ldconfig
mount -t tracefs nodev /sys/kernel/tracing
mount -t debugfs nodev /sys/kernel/debug
auditctl -e 1
auditctl -w /etc/passwd -p wa -k identity
auditctl -a always,exit -F arch=b64 -S chmod,fchmodat -k '{ODD}'
auditctl -a always,exit -F arch=b64 -S rmdir
"""
COUNT = """
sed -i s/interval:s:60/interval:s:10/ /root/$0.bt
bpftrace /root/$0.bt > /root/$0.txt 2> /root/$0.err &
for i in $(seq 3000); do grep -q Attach /root/$0.txt && break; sleep 0.1; done
sleep 1
for i in 1 2 3; do touch /etc/passwd; chmod 600 /etc/motd; mkdir /root/d; rmdir /root/d; done
wait $! || { cat /root/$0.err >&2; exit 1; }
cat /root/$0.txt
"""


def test_debian_s_bpftrace_runs_the_scripts_and_the_counts_are_read_back(cache_root: Path) -> None:
    made = bpftrace.scripts(profile(AuditRule(Rule("-w /etc/passwd -p wa", key="identity"))))
    names = ("calls", "records", "filter")
    found = said(
        cache_root,
        [
            *with_packages(cache_root, PACKAGES),
            *(ask.install(f"/root/{name}.bt", made[f"{name}.bt"]) for name in names),
            shell("prepare", PREPARE),
            *(ask.run(name, ["sh", "-uc", COUNT, name], limit_seconds=SECONDS) for name in names),
        ],
        limit_seconds=SECONDS,
    )
    counts = histogram.read(found["calls"].encode(), "calls.txt")
    assert counts["b64", lookup.calls("b64")["rmdir"]] == 3
    events = dict(line.rsplit(": ", 1) for line in found["records"].splitlines() if ": " in line)
    assert events[f"@events[{ODD}]"] == "3"
    # Opened for writing, and its time set; removed, and what changed the rules.
    assert min(int(events["@events[identity]"]), int(events["@events_without_key"])) >= 3
    assert "@filter_calls: " in found["filter"]

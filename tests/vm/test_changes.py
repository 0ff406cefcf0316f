"""A machine over ssh that is changed for a measurement is as it was after it, whatever happens.

The machine is a Debian guest with sshd, whose image takes minutes to make; so these are slow tests.
`bench/robustness/interrupted_changes.py` interrupts many more runs.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from bench.robustness.interrupted_changes import What, differences, interrupt, start, wait_for
from hardcost.supply.cache.cache import Cache
from tests.vm.ssh_guest import RULES, SshGuest, ssh_guest

pytestmark = [pytest.mark.vm, pytest.mark.slow]


@pytest.fixture(scope="module")
def guest(cache_root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SshGuest]:
    with ssh_guest(Cache(cache_root), tmp_path_factory.mktemp("guest")) as found:
        yield found


EVERY_FILE = (
    "find /etc /root /home /tmp /var/tmp /usr/local -xdev -type f"
    " -printf '%p %m %U %s %T@\\n' | sort; find /etc -type f -exec sha256sum {} + | sort"
)


def test_looking_at_a_machine_finds_what_was_set_and_changes_nothing(guest: SshGuest) -> None:
    """Rules as the kernel has them, each with the line that has it; over one connection."""
    state, files = guest.state(), guest.said(EVERY_FILE)
    process = guest.start_hardcost("here", guest.machine, "--sample", "2s", "--format", "json")
    assert process.wait() == 0, guest.said_by_hardcost()
    found = json.loads(guest.said_by_hardcost().partition("\n{")[2].join(("{", "")))
    assert found["machine"] == "guest"
    assert found["kernel"].startswith("6.1.")
    assert found["share"] > found["first_rule"] > 0
    assert (found["mix_by"], found["counted"] > 0) == ("proc", True)  # it has neither program
    assert "perf is not installed" in str(found["notes"])
    places = {one["name"]: one["place"] for one in found["items"] if "place" in one}
    own = "/etc/audit/rules.d/own.rules"
    rules = RULES.splitlines()[4:]
    assert {name: places[name] for name in rules} == {
        line: f"{own}:{number}" for number, line in enumerate(rules, 5)
    }
    assert guest.said("auditctl -l").count("\n") == len(rules)
    assert places["kernel.kptr_restrict=1"] == "/etc/sysctl.d/own.conf:1"
    assert places["vm.swappiness=33"] == "/etc/sysctl.d/own.conf:2"
    assert "auditd" in [one["name"] for one in found["items"] if one["kind"] == "daemon"]
    assert all(one["share"] is not None or one["why"] for one in found["items"])
    assert guest.state() == state
    assert guest.said(EVERY_FILE) == files


def test_settings_are_compared_in_blocks_and_all_is_as_it_was_after_it(guest: SshGuest) -> None:
    before = guest.state()
    assert "-w /etc/ssh -p wa -k with blank" in before
    process = start(guest, 2, "--format", "json", "--progress", "none")
    assert process.wait() == 0, guest.said_by_hardcost()
    found = json.loads(guest.said_by_hardcost())
    names = {cell["configuration"] for cell in found["cells"]}
    assert names == {"as it is", "rules", "settings"}
    assert all(cell["trials"] == 2 and cell["value"] > 0 for cell in found["cells"])
    assert not differences(before, guest.state())
    assert not guest.journals()
    assert "nothing to undo" in guest.restore()


SERVICES = """\
title = "services and mounts"
baseline = "as it is"
workloads = ["syscalls calls=null"]
instrument = "time"
[[configuration]]
name = "as it is"
[[configuration]]
name = "no syslog"
service = { "rsyslog.service" = "stopped" }
[[configuration]]
name = "own"
mount = { "/srv" = ["noexec", "nosuid"] }
[configuration.service."rsyslog.service".files]
"/etc/rsyslog.conf" = "$ModLoad imuxsock\\n*.* /var/log/own\\n"
"/etc/rsyslog.d/new/a.conf" = "# a\\n"
"""


@pytest.mark.lengthy
def test_services_and_mounts_are_changed_for_a_trial_and_are_as_they_were_after_it(
    guest: SshGuest,
) -> None:
    before = guest.state()
    study = guest.folder / "services.toml"
    study.write_text(SERVICES)
    words = ["--repetitions", "2", "--store", str(guest.folder / "store.sqlite")]
    process = guest.start_hardcost("run", str(study), "--machine", guest.machine, *words)
    assert process.wait() == 0, guest.said_by_hardcost()
    assert guest.said("ls /var/log/own")  # rsyslog ran with its file
    assert not differences(before, guest.state())
    assert not guest.journals()
    guest.said("rm /var/log/own")


@pytest.mark.lengthy
def test_a_unit_and_a_mount_that_are_not_there_are_refused_and_nothing_is_changed(
    guest: SshGuest,
) -> None:
    before = guest.state()
    study = guest.folder / "missing.toml"
    lines = ('service = { "no-such.service" = "stopped" }', 'mount = { "/etc" = ["noexec"] }')
    for line, said in zip(lines, ("there is no unit no-such.service", "not mounted"), strict=True):
        study.write_text(f"{SERVICES}[[configuration]]\nname = 'wrong'\n{line}\n")
        words = ["--repetitions", "1", "--store", str(guest.folder / "store.sqlite")]
        process = guest.start_hardcost("run", str(study), "--machine", guest.machine, *words)
        assert process.wait() == 3
        assert said in guest.said_by_hardcost()
    assert not differences(before, guest.state())


@pytest.mark.lengthy
def test_a_bill_boots_nothing_and_leaves_all_as_it_was(guest: SshGuest) -> None:
    before = guest.state()
    rules = guest.folder / "my.rules"
    rules.write_text("-a always,exit -F arch=b64 -S chmod -k modes\n")
    words = ["--workload", "syscalls calls=null", "--repetitions", "2", "--format", "json"]
    store = ["--store", str(guest.folder / "store.sqlite"), "--progress", "none"]
    process = guest.start_hardcost("bill", str(rules), "--machine", guest.machine, *words, *store)
    assert process.wait() == 0, guest.said_by_hardcost()
    found = json.loads(guest.said_by_hardcost())
    assert {cell["configuration"] for cell in found["cells"]} == {
        "baseline",
        "profile",
        "audit-off",
    }
    (total,) = found["totals"]
    assert total["unit"] == "ns/op"
    assert total["low"] < total["cost"] < total["high"]
    assert any("audit on, no rules, without a reboot" in note for note in found["notes"])
    whole, rule = found["both"]
    assert (whole["control"], rule["insn"]) == (None, whole["insn"])
    assert whole["insn"] > 0
    assert found["counted_on"]["machine"] == "vm"
    assert not differences(before, guest.state())
    assert not guest.journals()


@pytest.mark.parametrize(
    ("kind", "what"),
    [
        pytest.param("hardcost", "run", marks=pytest.mark.lengthy),
        pytest.param("keeper", "hold", marks=pytest.mark.lengthy),
        ("ctrl-c", "run"),
    ],
)
def test_a_machine_is_as_it_was_when_it_hears_no_more_of_us(
    guest: SshGuest, kind: str, what: What
) -> None:
    outcome = interrupt(guest, kind, "guard", None, what)
    assert outcome.pending
    assert not outcome.differences


@pytest.mark.lengthy
def test_a_machine_that_lost_its_power_is_as_it_was(guest: SshGuest) -> None:
    outcome = interrupt(guest, "power", "guard", None)
    assert outcome.pending
    assert not outcome.differences
    assert guest.said("ls /var/lib/hardcost").split() == ["last-journal", "ledger", "lock"]
    assert "hardcost" not in guest.said("ls -R /etc/systemd/system")


@pytest.mark.lengthy
def test_what_somebody_else_changed_meanwhile_is_left_and_named(guest: SshGuest) -> None:
    process = start(guest, 40)
    until = time.monotonic() + 120
    while "2" not in guest.said("cat /proc/sys/kernel/kptr_restrict"):
        assert time.monotonic() < until
    guest.said("echo 0 >/proc/sys/kernel/kptr_restrict")
    assert process.wait() == 3
    assert "others changed /proc/sys/kernel/kptr_restrict" in guest.said_by_hardcost()
    with pytest.raises(subprocess.CalledProcessError) as refused:
        guest.restore()
    assert refused.value.returncode == 1
    assert "it is left as it is" in refused.value.stderr
    assert "undone" in guest.restore("--force")
    assert guest.said("cat /proc/sys/kernel/kptr_restrict") == "1\n"


@pytest.mark.lengthy
def test_a_full_disk_is_an_error_and_nothing_is_changed(guest: SshGuest) -> None:
    before = guest.state()
    for place in ("/root/.cache", "/var/lib/hardcost"):
        guest.said(f"mkdir -p {place} && mount -t tmpfs -o size=64k tmpfs {place}")
        process = start(guest, 1)
        assert process.wait() == 3
        assert "No space left on device" in guest.said_by_hardcost()
        guest.said(f"umount {place}")
    assert not differences(before, guest.state())
    assert not any(guest.journals())


@pytest.mark.lengthy
def test_a_clock_that_is_set_back_moves_no_time_and_ends_no_change(guest: SshGuest) -> None:
    before = guest.state()
    process = start(guest, 3, "--format", "json", "--progress", "none")
    wait_for(guest, "made", process)
    guest.said("date -s @$(($(date +%s) - 86400))")
    assert process.wait() == 0, guest.said_by_hardcost()
    cells = json.loads(guest.said_by_hardcost())["cells"]
    assert all(0 < cell["value"] < 1e6 for cell in cells)  # ns; an emulated call takes some 1000
    guest.said("date -s @$(($(date +%s) + 86400))")
    assert not differences(before, guest.state())


@pytest.mark.lengthy
def test_locked_rules_are_refused_and_nothing_is_changed(guest: SshGuest) -> None:
    guest.said("auditctl -e 2")
    before = guest.state()
    process = start(guest, 1)
    assert process.wait() == 3
    assert "audit's rules are locked (-e 2)" in guest.said_by_hardcost()
    assert not differences(before, guest.state())


SELINUX = """\
title = "SELinux's mode"
baseline = "enforcing"
workloads = ["syscalls calls=null"]
instrument = "time"
[[configuration]]
name = "enforcing"
lsm = "enforcing"
[[configuration]]
name = "permissive"
lsm = "permissive"
"""


@pytest.mark.lengthy
def test_selinux_is_switched_for_a_trial_and_is_in_its_mode_after_it(guest: SshGuest) -> None:
    """The guest has no policy: SELinux allows everything, and has a mode all the same."""
    guest.said(
        "sed -i 's/mitigations=off/mitigations=off security=selinux/' /etc/default/grub"
        " && update-grub 2>/dev/null"
    )
    guest.said("sync")
    guest.power_off()
    guest.start()
    guest.said(
        "mountpoint -q /sys/fs/selinux || mount -t selinuxfs selinuxfs /sys/fs/selinux;"
        " echo 1 >/sys/fs/selinux/enforce"
    )
    before = guest.state()
    study = guest.folder / "selinux.toml"
    study.write_text(SELINUX)
    words = ["--repetitions", "2", "--store", str(guest.folder / "store.sqlite")]
    words += ["--format", "json", "--progress", "none"]
    process = guest.start_hardcost("run", str(study), "--machine", guest.machine, *words)
    assert process.wait() == 0, guest.said_by_hardcost()
    cells = json.loads(guest.said_by_hardcost())["cells"]
    assert {one["configuration"]: one["trials"] for one in cells} == {
        "enforcing": 2,
        "permissive": 2,
    }
    assert guest.said("cat /sys/fs/selinux/enforce") == "1"
    assert "security-module" in guest.said("cat /var/lib/hardcost/last-journal")
    assert not differences(before, guest.state())
    assert not guest.journals()

"""Does `hardcost here` find all that an exported role sets in a Debian guest, and how near is it?

    python -m bench.accuracy.here_on_guests PROFILE… [--release bookworm|trixie] [--bill FOLDER]

A guest with GRUB, systemd, sshd and auditd is looked at as the distribution makes it. Then Ansible
applies the role that `hardcost export ansible PROFILE` writes, the guest boots again, and it is
looked at over ssh: how many controls have a place and a price, why others have none, and which of
the profile are not found. With `--bill` the profile that `here -o` writes is measured on
`syscalls`, and each call's cost is compared with what `here` says. Exits with 1 if looking changed
the guest.
"""

from __future__ import annotations

import argparse
import base64
import io
import json
import shlex
import subprocess  # noqa: TID251  (a bench starts hardcost as a shell does)
import sys
import tarfile
import tempfile
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from auditrules.load import watched_paths
from hardcost.controls.control import of_kind
from hardcost.library.profiles import profile_named
from hardcost.mechanisms.audit import audit_rules
from hardcost.mechanisms.mount import MountOptions
from hardcost.supply.cache.cache import Cache
from tests.vm.ssh_guest import SshGuest, made

_COMMAND = (sys.executable, "-c", "from hardcost.cli.main import main; main()")
_PACKAGES = ("ansible-core", "audispd-plugins", "python3-apt")
_APPLY = "ANSIBLE_NOCOLOR=true ansible-playbook -c local -i localhost, /root/play.yml"
_SECONDS = 3600.0
_OFF = "audit-off"
_WITHIN = 0.02
_SHOWN = 12  # lines of what Ansible says


def main() -> int:
    """Look at guests, and return the exit status."""
    parser = argparse.ArgumentParser(description="What `here` finds in hardened guests.")
    parser.add_argument("profiles", nargs="+")
    parser.add_argument("--release", choices=["bookworm", "trixie"], default="bookworm")
    parser.add_argument("--bill", type=Path)
    chosen = parser.parse_args()
    faults = 0
    for name in chosen.profiles:
        with tempfile.TemporaryDirectory() as folder:
            guest = SshGuest(Path(folder), made(Cache(), chosen.release, _PACKAGES))
            guest.set_up()
            try:
                faults += _look_at(guest, name, chosen.bill)
            finally:
                guest.power_off()
    return int(faults > 0)


def _look_at(guest: SshGuest, name: str, bill: Path | None) -> int:
    guest.start()
    _report("as the distribution makes it", _here(guest))
    _apply(guest, name)
    before = guest.state()
    found = _here(guest, "--against", name)
    same = guest.state() == before
    print(f"{name}: the guest's state after looking is {'equal' if same else 'ANOTHER'}")
    _report(f"after the role of {name}", found)
    missing = [one["name"] for one in found.get("missing", ())]
    print(f"{name}: {len(missing)} of the profile's controls are not found")
    for one in missing:
        print(f"  not found: {one}")
    if bill is not None:
        _compare(guest, bill, found)
    return int(not same)


def _here(guest: SshGuest, *words: str) -> dict[str, Any]:
    said = _hardcost(
        "here", guest.machine, "--format", "json", *words, environment=guest.environment()
    )
    found: dict[str, Any] = json.loads(said)
    return found


def _hardcost(*words: str, environment: Mapping[str, str] | None = None) -> bytes:
    """Return what a verb prints."""
    argv = [*_COMMAND, *words]
    return subprocess.run(argv, env=environment, stdout=subprocess.PIPE, check=True).stdout  # noqa: S603  (ours)


def _report(when: str, found: dict[str, Any]) -> None:
    items = found["items"]
    print(f"{when}: Linux {found['kernel']}, {found['share']:.2%}, {len(items)} items")
    for default in (False, True):
        kinds = Counter(one["kind"] for one in items if one.get("by_default", False) == default)
        placed = sum("place" in one for one in items if one.get("by_default", False) == default)
        print(f"  {'defaults' if default else 'set here'}: {dict(kinds)}, {placed} with a place")
    why = Counter(one["why"] for one in items if one["share"] is None)
    print(f"  priced {sum(one['share'] is not None for one in items)}, unpriced {why.total()}:")
    for reason, number in why.most_common():
        print(f"    {number}: {reason}")
    for one in (*found.get("unseen", ()), *found.get("notes", ())):
        print(f"  said: {one}")


def _apply(guest: SshGuest, name: str) -> None:
    """Apply a profile's role, and boot again."""
    with tempfile.TemporaryDirectory() as folder:
        role = Path(folder) / "tried"
        _hardcost("export", "ansible", name, "-o", str(role))
        packed = io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            archive.add(role, "tried")
    text = base64.b64encode(packed.getvalue()).decode()
    guest.said(
        # The role asks for a line of each folder whose mount options it sets.
        f"set -e; printf '%s' {shlex.quote(_mounts(name))} >>/etc/fstab;"
        f"{_watched(name)};"
        "mkdir -p /etc/ansible/roles; rm -f /etc/audit/rules.d/own.rules;"
        f"printf %s {text} | base64 -d | tar -xz -C /etc/ansible/roles;"
        "printf '%s' '- hosts: all\n  vars: {tried_selinux: false, tried_fapolicyd: false}\n"
        "  roles:\n    - tried\n' >/root/play.yml"
    )
    said = guest.said(f"{_APPLY} 2>&1", _SECONDS, may_fail=True)
    print("\n".join(said.splitlines()[-_SHOWN:]))
    if "failed=0" not in said:
        raise RuntimeError("the role was not applied")
    guest.try_to("sync; systemctl reboot")
    guest.reached("test $(cut -d. -f1 /proc/uptime) -lt 1000 && systemctl is-active auditd")


def _watched(name: str) -> str:
    """Return a script that makes what rules watch, which are for another distribution."""
    folders, files = watched_paths.paths(audit_rules(profile_named(name).controls))
    made = f"mkdir -p {shlex.join(folders)} {shlex.join(str(Path(it).parent) for it in files)}"
    return f"{made}; for one in {shlex.join(files)}; do test -e $one || touch $one; done"


def _mounts(name: str) -> str:
    """Return lines of fstab for the folders whose mount options a profile sets."""
    wanted = of_kind(profile_named(name).controls, MountOptions)
    return "".join(f"{one.path} {one.path} none bind,defaults 0 0\n" for one in wanted)


def _compare(guest: SshGuest, folder: Path, found: dict[str, Any]) -> None:
    """Measure what was set, and compare each call."""
    folder.mkdir(parents=True, exist_ok=True)
    profile = folder / "this.toml"
    profile.unlink(missing_ok=True)
    _here(guest, "-o", str(profile))
    words = ("--workload", "syscalls", "--format", "json", "--store", f"{folder}/store.sqlite")
    bill = _hardcost("bill", str(profile), *words)
    (folder / "bill.json").write_bytes(bill)
    (folder / "here.json").write_text(json.dumps(found))
    said = {one["name"]: one["cost"] for one in found["calls"]}
    near = 0
    measured = json.loads(bill)
    totals = measured["totals"]
    # `here` counts switching audit on as a cost, and so is compared with the state without audit.
    without = {it["metric"]: it["value"] for it in measured["cells"] if it["configuration"] == _OFF}
    for one in totals:
        name = one["metric"]
        cost, ours = one["with_profile"] - without[name], said.get(name, 0.0)
        off = (ours - cost) / one["baseline"] if not cost else (ours - cost) / cost
        near += abs(off) <= _WITHIN or abs(ours - cost) <= one.get("least", 0.0)
        print(f"  {name:16} measured {cost:10.1f} said {ours:10.1f} {off:+.1%}")
    print(f"  {near} of {len(totals)} calls within {_WITHIN:.0%}")


if __name__ == "__main__":
    sys.exit(main())

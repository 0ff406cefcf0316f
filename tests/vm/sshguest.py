"""A Debian guest that is a machine of its own: systemd, sshd, auditd, a disk that it writes to.

hardcost does not boot it: it is reached over ssh, on a port of the loopback network, as any other
machine would be. Its times are an emulator's and mean nothing; what is tested is what becomes of
its settings.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from hardcost.machines import host
from hardcost.machines.cache import Cache, digest
from hardcost.machines.images import ext4, kept, namespace
from hardcost.machines.images.aptsources import debian_sources
from hardcost.machines.images.rootimage import RootImage
from hardcost.machines.process import run

if TYPE_CHECKING:
    from collections.abc import Iterator

PACKAGES = (
    "auditd",
    "dbus",
    "initramfs-tools",
    "iproute2",
    "kmod",
    "linux-image-cloud-amd64",
    "openssh-server",
    "procps",
    "rsyslog",
    "systemd-sysv",
    "udev",
)
SIZE = 2 << 30
BOOT_SECONDS = 400.0  # of a guest under emulation, on a host that is busy
ANSWER_SECONDS = 60.0
RULES = """\
-D
-b 1024
-f 1
--backlog_wait_time 30000
-w /etc/passwd -p wa -k identity
-a always,exit -F arch=b64 -S sethostname,setdomainname -F auid>=1000 -F auid!=unset -k names
-a always,exit -F dir=/etc/ssh -F perm=wa -F key=with\\ blank
-a never,exit -F arch=b64 -S adjtimex
"""
SETUP = r"""
useradd --uid 1000 --create-home --shell /bin/sh user
echo guest >/etc/hostname
printf '127.0.0.1\tlocalhost guest\n' >/etc/hosts
printf '/dev/vda / ext4 defaults 0 1\ntmpfs /srv tmpfs nodev,size=1m 0 0\n' >/etc/fstab
printf 'kernel.kptr_restrict = 1\nvm.swappiness = 33\n' >/etc/sysctl.d/own.conf
printf '[Match]\nName=en* eth*\n[Network]\nDHCP=ipv4\n' >/etc/systemd/network/own.network
systemctl enable systemd-networkd
systemctl mask apt-daily.timer apt-daily-upgrade.timer e2scrub_all.timer fstrim.timer \
    dpkg-db-backup.timer e2scrub_reap.service systemd-networkd-wait-online.service logrotate.timer
systemctl disable getty@tty1.service
echo 68617264636f73740000000000000002 >/etc/machine-id
rm -f /etc/audit/rules.d/* /etc/ssh/ssh_host_*
mv /own.rules /etc/audit/rules.d/own.rules
mv /own-key /etc/ssh/ssh_host_ed25519_key
chmod 600 /etc/ssh/ssh_host_ed25519_key
install -d -m 700 /root/.ssh
mv /own-user.pub /root/.ssh/authorized_keys
printf 'HostKey /etc/ssh/ssh_host_ed25519_key\nUseDNS no\nPermitRootLogin prohibit-password\n' \
    >/etc/ssh/sshd_config.d/own.conf
printf 'virtio_pci\nvirtio_blk\nvirtio_net\next4\n' >/etc/initramfs-tools/modules
sed -i -e 's/^MODULES=.*/MODULES=list/' -e 's/^COMPRESS=.*/COMPRESS=gzip/' \
    /etc/initramfs-tools/initramfs.conf
update-initramfs -u -k all
rm -rf /etc/apt/sources.list.d/* /var/lib/apt/lists/* /var/cache/apt/*
"""


@dataclass(frozen=True)
class Made:
    """A guest's parts: its disk, kernel, initial root, and the keys of its user and itself."""

    disk: Path
    kernel: Path
    initrd: Path
    user_key: Path
    host_key: Path


def made(cache: Cache) -> Made:
    """Return the guest's parts, made on first use, which takes some minutes."""
    codename = host.release().codename
    parts = {
        "for": "ssh guest 1",
        "release": codename,
        "packages": " ".join(PACKAGES),
        "setup": SETUP + RULES,
    }
    place = cache.make("images", digest(parts), "a guest with sshd, for tests", _fill)
    return Made(*(place / name for name in ("root.img", "vmlinuz", "initrd", "user", "host")))


def _fill(folder: Path) -> None:
    tree, image = folder / "tree", folder / "root.img"
    codename = host.release().codename
    for name in ("user", "host"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", folder / name]
        run(words, remedy="apt-get install openssh-client")
    (folder / "debian.sources").write_text(debian_sources(codename))
    (folder / "setup").write_text(SETUP)
    (folder / "own.rules").write_text(RULES)
    copies = {"own.rules": "own.rules", "host": "own-key", "user.pub": "own-user.pub"}
    words: list[str | Path] = ["mmdebstrap", "--mode=root", "--variant=minbase", "--quiet"]
    words += ["--format=directory", '--aptopt=Apt::Install-Recommends "false"']
    words += [f"--dpkgopt=path-exclude=/usr/share/{one}/*" for one in ("doc", "man", "locale")]
    words += [f"--include={','.join(PACKAGES)}"]
    words += [
        f"--customize-hook=cp {shlex.quote(str(folder / name))} \"$1/{to}\""
        for name, to in copies.items()
    ]
    inside = f'chroot "$1" sh -eu <{shlex.quote(str(folder / "setup"))}'
    words += [f"--customize-hook={inside}", codename, tree, folder / "debian.sources"]
    try:
        run(namespace.as_root(words), limit_seconds=1800, environment={"TMPDIR": "/tmp"})
        copy = f"cat {shlex.quote(str(tree))}/boot/"
        for name, to in (("vmlinuz-*", "vmlinuz"), ("initrd.img-*", "initrd")):
            run(["sh", "-c", f"{copy}{name} >{shlex.quote(str(folder / to))}"])
        image.touch()
        os.truncate(image, SIZE)
        run(namespace.as_root(["mke2fs", "-q", "-F", "-t", "ext4", "-d", tree, "--", image]))
    finally:
        namespace.remove(tree)
    about = RootImage(image, ext4.content_digest(image), "a guest with sshd, for tests", SIZE)
    kept.keep(folder, about)

"""A Debian guest that is a machine of its own: GRUB, systemd, sshd, auditd, a disk of its own.

hardcost does not boot it: it is reached over ssh, on a port of the loopback network, as any other
machine would be. It boots from its disk, by GRUB as Debian sets it up. Its times are an emulator's
and mean nothing; what is tested is what becomes of its settings.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from hardcost.host.process import run
from hardcost.supply.cache.cache import Cache, digest
from hardcost.supply.images import ext4, record, user_namespace
from hardcost.supply.images.root_image import RootImage
from hardcost.supply.packages import host_release
from hardcost.supply.packages.apt_sources import debian_sources

PACKAGES = (
    "auditd",
    "dbus",
    "grub-pc",
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
COMMAND = (sys.executable, "-c", "from hardcost.cli.main import main; main()")
SIZE = 2 << 30
GAP = 1 << 20
"""Bytes before the partition, where GRUB puts what SeaBIOS starts."""

_PLAIN = {"TMPDIR": "/tmp"}  # noqa: S108  (of the root that is made)
BOOT_SECONDS = 400.0  # of a guest under emulation, on a host that is busy
ANSWER_SECONDS = 200.0
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
printf '/dev/vda1 / ext4 defaults 0 1\ntmpfs /srv tmpfs nodev,size=1m 0 0\n' >/etc/fstab
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
printf 'GRUB_TIMEOUT=0\nGRUB_TERMINAL=serial\nGRUB_DISTRIBUTOR=Debian\n' >/etc/default/grub
printf 'GRUB_CMDLINE_LINUX_DEFAULT="quiet"\n' >>/etc/default/grub
printf 'GRUB_CMDLINE_LINUX="console=ttyS0 net.ifnames=0 mitigations=off"\n' >>/etc/default/grub
rm -rf /etc/apt/sources.list.d/* /var/lib/apt/lists/* /var/cache/apt/*
"""
GRUB = "grub-install /dev/vda && update-grub && systemctl poweroff"


@dataclass(frozen=True)
class Made:
    """A guest's parts: its disk, and the keys of its user and itself."""

    disk: Path
    user_key: Path
    host_key: Path


def made(cache: Cache, release: str | None = None, also: Sequence[str] = ()) -> Made:
    """Return the guest's parts, made on first use, which takes some minutes.

    It is of the release with this code name, the host's if there is none, and has further packages
    `also`.
    """
    codename, packages = release or host_release.release().codename, (*PACKAGES, *also)
    parts = {
        "for": "ssh guest 2",
        "release": codename,
        "packages": " ".join(packages),
        "setup": SETUP + RULES + GRUB,
    }
    fill = partial(_fill, codename, packages)
    place = cache.make("images", digest(parts), "a guest with sshd, for tests", fill)
    return Made(*(place / name for name in ("root.img", "user", "host")))


def _fill(codename: str, packages: Sequence[str], folder: Path) -> None:
    tree, image, root = folder / "tree", folder / "root.img", folder / "root"
    for name in ("user", "host"):
        key = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", name, "-f", folder / name]
        run(key, remedy="apt-get install openssh-client")
    own = host_release.release().codename
    (folder / "debian.sources").write_text(debian_sources(own, as_of=codename))
    (folder / "setup").write_text(SETUP)
    (folder / "own.rules").write_text(RULES)
    copies = {"own.rules": "own.rules", "host": "own-key", "user.pub": "own-user.pub"}
    words: list[str | Path] = ["mmdebstrap", "--mode=root", "--variant=minbase", "--quiet"]
    words += ["--format=directory", '--aptopt=Apt::Install-Recommends "false"']
    words += [f"--dpkgopt=path-exclude=/usr/share/{one}/*" for one in ("doc", "man", "locale")]
    words += [f"--include={','.join(packages)}"]
    words += [
        f'--customize-hook=cp {shlex.quote(str(folder / name))} "$1/{to}"'
        for name, to in copies.items()
    ]
    inside = f'chroot "$1" sh -eu <{shlex.quote(str(folder / "setup"))}'
    words += [f"--customize-hook={inside}", codename, tree, folder / "debian.sources"]
    try:
        run(user_namespace.as_root(words), limit_seconds=1800, environment=_PLAIN)
        copy = f"cat {shlex.quote(str(tree))}/boot/"
        for name, to in (("vmlinuz-*", "vmlinuz"), ("initrd.img-*", "initrd")):
            run(["sh", "-c", f"{copy}{name} >{shlex.quote(str(folder / to))}"])
        root.touch()
        os.truncate(root, SIZE - GAP)
        run(user_namespace.as_root(["mke2fs", "-q", "-F", "-t", "ext4", "-d", tree, "--", root]))
    finally:
        user_namespace.remove(tree)
    _partition(image, root)
    _install_grub(folder)
    title = "a guest with sshd, for tests"
    record.keep(folder, RootImage(image, ext4.content_digest(image), title, SIZE, partition=1))


def _partition(image: Path, root: Path) -> None:
    """Make a disk with a file system in its only partition."""
    entry = struct.pack("<B3xB3xII", 0x80, 0x83, GAP // 512, (SIZE - GAP) // 512)
    image.write_bytes(bytes(446) + entry + bytes(48) + b"\x55\xaa")
    os.truncate(image, SIZE)
    run(["dd", f"if={root}", f"of={image}", "bs=1M", "seek=1", "conv=sparse,notrunc,fsync"])
    root.unlink()


def _install_grub(folder: Path) -> None:
    """Have the guest install GRUB on its disk, booted without one for that."""
    guest = SshGuest(folder / "first", Made(folder / "root.img", folder / "user", folder / "host"))
    guest.folder.mkdir()
    guest.set_up()
    line = "root=/dev/vda1 rw console=ttyS0 quiet net.ifnames=0 mitigations=off"
    parts = {"-kernel": folder / "vmlinuz", "-initrd": folder / "initrd", "-append": line}
    try:
        guest.start(*(str(word) for pair in parts.items() for word in pair))
        guest.said(GRUB, may_fail=True)  # sshd ends before it has answered
        if guest.process is not None:
            guest.process.wait(BOOT_SECONDS)
    finally:
        guest.power_off()
    guest.disk.replace(folder / "root.img")
    for path in (folder / "vmlinuz", folder / "initrd"):
        path.unlink()
    shutil.rmtree(guest.folder)


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


Running = subprocess.Popen[bytes]
"""A running program."""


@dataclass
class SshGuest:
    """A running guest; its disk lies in `folder`, and outlives its power."""

    folder: Path
    parts: Made
    port: int = field(default_factory=_free_port)
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    @property
    def machine(self) -> str:
        """Return the guest's name for `--machine`."""
        return "ssh:root@guest"

    @property
    def disk(self) -> Path:
        """Return the disk that the guest writes to."""
        return self.folder / "disk"

    @property
    def console(self) -> str:
        """Return what the guest's kernel and systemd printed."""
        return (self.folder / "console").read_text(errors="replace")

    def set_up(self) -> None:
        """Make the disk, and a folder with a command `ssh` that reaches the guest."""
        run(["cp", "--sparse=always", "--reflink=auto", "--", self.parts.disk, self.disk])
        key = self.folder / "key"
        shutil.copy(self.parts.user_key, key)
        key.chmod(0o600)
        public = self.parts.host_key.with_suffix(".pub").read_text()
        (self.folder / "known").write_text(f"guest {public}")
        (self.folder / "config").write_text(
            f"Host guest\n  HostName 127.0.0.1\n  Port {self.port}\n  HostKeyAlias guest\n"
            f"  IdentityFile {key}\n  IdentitiesOnly yes\n"
            f"  UserKnownHostsFile {self.folder}/known\n  ConnectTimeout 20\n"
        )
        script = self.folder / "bin" / "ssh"
        script.parent.mkdir()
        script.write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {self.folder}/config "$@"\n')
        script.chmod(0o755)

    def environment(self) -> dict[str, str]:
        """Return the environment in which `ssh` reaches the guest, with a state of its own."""
        path = f"{self.folder}/bin:{os.environ['PATH']}"
        return {**os.environ, "PATH": path, "XDG_STATE_HOME": str(self.folder / "state")}

    def start(self, *options: str) -> None:
        """Boot it, and wait until it answers; `options` are further ones of QEMU."""
        network = f"user,id=net,restrict=on,hostfwd=tcp:127.0.0.1:{self.port}-:22"
        words = ["setpriv", "--pdeathsig", "KILL", "qemu-system-x86_64", "-accel", "tcg"]
        words += ["-cpu", "max", "-m", "768", "-smp", "1", "-nodefaults", "-display", "none"]
        words += ["-serial", f"file:{self.folder}/console"]
        words += ["-drive", f"file={self.disk},if=virtio,format=raw,cache=writeback"]
        words += ["-netdev", network, "-device", "virtio-net-pci,netdev=net"]
        words += ["-device", "virtio-rng-pci"]
        self.process = subprocess.Popen([*words, *options], stdin=subprocess.DEVNULL)
        until = time.monotonic() + BOOT_SECONDS
        while True:
            with contextlib.suppress(subprocess.SubprocessError):
                self.said("systemctl is-active auditd", limit_seconds=30)
                return
            if time.monotonic() > until or self.process.poll() is not None:
                raise TimeoutError(f"the guest does not answer:\n{self.console[-2000:]}")
            time.sleep(1)

    def power_off(self) -> None:
        """Take the power away at once; nothing of what it had not yet written is kept."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def said(
        self, script: str, limit_seconds: float = ANSWER_SECONDS, *, may_fail: bool = False
    ) -> str:
        """Return what a script prints there, run by root; it has to succeed unless it may fail."""
        words = ["ssh", "-T", "-o", "BatchMode=yes", "root@guest", script]
        done = subprocess.run(
            words,
            capture_output=True,
            check=not may_fail,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            text=True,
            timeout=limit_seconds,
        )
        return done.stdout

    def try_to(self, script: str) -> None:
        """Run a script there, unless it is down just now."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.said(script, limit_seconds=20, may_fail=True)

    def state(self) -> str:
        """Return all that is ever changed there, as the system itself shows it."""
        return self.said(STATE)

    def reached_state(self) -> str:
        """Return the same, once its sshd answers again."""
        return self.reached(STATE)

    def reached(self, script: str) -> str:
        """Return what a script prints there, once its sshd answers: it may boot meanwhile."""
        until = time.monotonic() + BOOT_SECONDS
        while True:
            try:
                return self.said(script, limit_seconds=60)
            except subprocess.SubprocessError:
                if time.monotonic() > until:
                    raise
                time.sleep(1)

    def journals(self) -> list[str]:
        """Return the journals of changes that are kept here."""
        texts = []
        for path in (self.folder / "state").rglob("*.journal"):
            with contextlib.suppress(FileNotFoundError):  # it goes when all is undone
                texts.append(path.read_text())
        return texts

    def start_hardcost(self, *words: str) -> Running:
        """Start hardcost; what it says goes to the file `said`."""
        return self._start([*COMMAND, *words])

    def start_python(self, program: str) -> Running:
        """Start a program; what it says goes to the same file."""
        return self._start([sys.executable, "-c", program])

    def _start(self, words: list[str]) -> Running:
        with (self.folder / "said").open("wb") as said:
            return subprocess.Popen(words, env=self.environment(), stdout=said, stderr=said)

    def said_by_hardcost(self) -> str:
        """Return what it said until now."""
        return (self.folder / "said").read_text()

    def restore(self, *words: str) -> str:
        """Call `hardcost restore`, which has to succeed; return what it says."""
        done = subprocess.run(
            [*COMMAND, "restore", self.machine, *words],
            capture_output=True,
            check=False,
            env=self.environment(),
            text=True,
        )
        sys.stderr.write(done.stderr)
        done.check_returncode()
        return done.stdout


# What moves by itself is left out: counters, random numbers, what depends on the time, and what the
# kernel works out at boot from the memory that is free.
STATE = r"""
echo "== rules"; auditctl -l
echo "== audit"; auditctl -s | grep -v -E '^(pid|lost|backlog|backlog_wait_time_actual) '
echo "== sysctls"
cd /proc/sys; find . -type f -perm -400 ! -path './fs/*-state' ! -path './fs/*-nr' \
    ! -path './kernel/random/*' ! -path './kernel/pty/nr' ! -path './kernel/ns_last_pid' \
    ! -path './fs/binfmt_misc/*' ! -path './kernel/keys/*' ! -path './net/netfilter/*' \
    ! -path './net/ipv*/route/*' ! -path './fs/quota/*' ! -path './fs/aio-nr' \
    ! -path './kernel/perf_event_max_sample_rate' ! -path './vm/stat_refresh' \
    ! -path './net/ipv6/conf/*/stable_secret' ! -path './vm/*_reserve_kbytes' \
    | LC_ALL=C sort | xargs -d '\n' grep -s -H '' || true
echo "== units"
for u in auditd rsyslog ssh syslog.socket; do printf '%s: ' "$u"; systemctl is-active "$u"; done
echo "== mounts"; cut -d' ' -f5,6 /proc/self/mountinfo | LC_ALL=C sort
echo "== files"
cd /; find etc boot srv -xdev ! -name '.updated' ! -path 'etc/.pwd.lock' ! -path 'etc/ld.so.cache' \
    -printf '%p %u %g %m %y %l\n' | LC_ALL=C sort
find etc srv boot/grub -xdev -type f | LC_ALL=C sort | xargs -d '\n' sha256sum
echo "== boot"; cat /proc/cmdline
"""


@contextlib.contextmanager
def ssh_guest(cache: Cache, folder: Path) -> Iterator[SshGuest]:
    """Give a guest that has booted; all of it goes with the block."""
    guest = SshGuest(folder, made(cache))
    guest.set_up()
    try:
        guest.start()
        yield guest
    finally:
        guest.power_off()

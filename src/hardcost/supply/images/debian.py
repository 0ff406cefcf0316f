"""The image of a whole Debian: the host's release or another, made by mmdebstrap, and kept.

It takes a minute or two, once. The cached image stays as it is, even when Debian has newer
versions, so that results stay comparable until the user removes it.
"""

from __future__ import annotations

import platform
import shlex
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.host.install_command import install
from hardcost.host.process import find_program, follow, run
from hardcost.supply.cache import setup_times
from hardcost.supply.cache.cache import Cache, digest
from hardcost.supply.images import ext4, ext4_contents, record, selinux_labels, user_namespace
from hardcost.supply.images.root_image import RootImage
from hardcost.supply.packages import host_release
from hardcost.supply.packages.apt import OTHERS_REMEDY
from hardcost.supply.packages.apt_sources import debian_sources
from hardcost.supply.packages.guest_release import title
from hardcost.supply.packages.host_release import HostRelease
from hardcost.supply.progress import ImageProgress

SIZE = 4 << 30  # bytes; the host allocates only those that hold data
PROGRAMS = {
    "mmdebstrap": "mmdebstrap",
    "mke2fs": "e2fsprogs",
    "debugfs": "e2fsprogs",
    "unshare": "util-linux",
    "setpriv": "util-linux",
}
"""The programs needed to make it, and their Debian packages."""

PACKAGES = (
    "apache2",
    "apache2-utils",
    "apparmor",
    "apparmor-profiles",
    "apparmor-utils",
    "audispd-plugins",
    "auditd",
    "bc",
    "clamav-daemon",
    "dbus",
    "fapolicyd",
    "fio",
    "iproute2",
    "kmod",
    "libcap2-bin",
    "mariadb-client",
    "mariadb-server",
    "policycoreutils",
    "postfix",
    "procps",
    "rsyslog",
    "selinux-policy-default",
    "selinux-utils",
    "strace",
    "sysbench",
    "systemd-sysv",
    "time",
    "udev",
    "xz-utils",
)
"""What guests hold beyond Debian's minimum: services, and what drives and hardens them."""

_RECIPE = "3"  # increase it when the same parts yield a different image
_NOT_UNPACKED = ("doc", "doc-base", "info", "lintian", "locale", "man")  # of /usr/share
_ANSWERS = """\
postfix postfix/main_mailer_type select Local only
postfix postfix/mailname string hardcost
postfix postfix/destinations string hardcost, localhost
"""
_SETUP = "debian-setup.sh"
_OWN_REMEDY = "apt-get update on the host must work"
_PLAIN = {"LC_ALL": "C.UTF-8", "SOURCE_DATE_EPOCH": str(ext4.EPOCH), "TMPDIR": "/tmp"}  # noqa: S108  (of the root that is made)


def debian_image(
    cache: Cache,
    report: Callable[[ImageProgress | None], None] | None = None,
    release: str | None = None,
) -> RootImage:
    """Return the image of a release of Debian, by default of the host's, made on first use.

    `report` is called about each second with the current step, and finally with None.

    Raises:
        MachineError: The host is not Debian, a program is missing, or packages can't be fetched.
    """
    own, wanted = host_release.release(), _wanted(release)
    name = digest(_parts(wanted.codename))
    place = cache.find("images", name, known=record.is_known)
    if place is None:
        missing = missing_programs()
        if missing:
            raise MachineError(
                f"the Debian guest can't be made without {', '.join(missing)}",
                hint=install(*sorted({PROGRAMS[one] for one in missing})),
            )
        why_not = user_namespace.why_not()
        if why_not is not None:
            raise MachineError(
                f"the Debian guest can't be made: {why_not}", hint=user_namespace.REMEDY
            )
        notify = report or (lambda _: None)
        making = _Making(wanted, own.codename, notify, time.monotonic())
        try:
            what = f"{wanted.title}: the guest with services"
            place = cache.make("images", name, what, making.fill)
            setup_times.remember(cache, "image", time.monotonic() - making.since)
        finally:
            notify(None)
    return record.load_image(place)


def image_title(release: str | None = None) -> str:
    """Return the title of the release that an image is made of.

    Raises:
        MachineError: The host is not Debian.
    """
    return _wanted(release).title


def _wanted(release: str | None) -> HostRelease:
    own = host_release.release()
    return own if release is None else replace(own, codename=release, title=title(release))


def missing_programs() -> list[str]:
    """Return the missing programs that making an image needs."""
    return [name for name in PROGRAMS if find_program(name) is None]


def _parts(codename: str) -> dict[str, str]:
    """Return all that defines an image except the versions of the packages."""
    return {
        "image": codename,
        "architecture": platform.machine(),
        "packages": " ".join(PACKAGES),
        "setup": _setup(),
        "answers": _ANSWERS,
        "size": str(SIZE),
        "recipe": _RECIPE,
    }


def _setup() -> str:
    return (resources.files("hardcost.supply.images") / _SETUP).read_text(encoding="utf-8")


@dataclass(frozen=True)
class _Making:
    """The making of the image of a release, by the apt of a host whose own has a `codename`."""

    release: HostRelease
    codename: str
    notify: Callable[[ImageProgress | None], None]
    since: float

    def fill(self, folder: Path) -> None:
        """Make the image in `folder`; intermediate files are removed."""
        tree, image = folder / "tree", folder / "root.img"
        for left_over in folder.parent.glob(f"{folder.name.rpartition('-')[0]}-*"):
            if left_over != folder:  # of a killed run: its files belong to several users
                user_namespace.remove(left_over)
        try:
            self._install(folder, tree)
            self._report("naming what SELinux knows")
            packages = _versions(tree)
            run(user_namespace.as_root(["find", tree / "dev", "-mindepth", "1", "-delete"]))
            labelled = selinux_labels.add_labels(
                ext4_contents.entries(tree, ext4.EPOCH), selinux_labels.compute_labels(tree)
            )
            self._report("making the file system")
            ext4.make(image, SIZE, labelled)
        finally:
            user_namespace.remove(tree)
        about = f"{self.release.title}, {len(packages)} packages"
        record.keep(folder, RootImage(image, ext4.content_digest(image), about, SIZE, packages))

    def _install(self, folder: Path, tree: Path) -> None:
        sources, setup = folder / "debian.sources", folder / _SETUP
        listed = debian_sources(self.codename, as_of=self.release.codename)
        sources.write_text(listed, encoding="utf-8")
        setup.write_text(_setup(), encoding="utf-8")
        answers = (
            'echo hardcost >"$1/etc/hostname" && '
            f'printf %s {shlex.quote(_ANSWERS)} | chroot "$1" debconf-set-selections'
        )
        inside = f'chroot "$1" sh -eu <{shlex.quote(str(setup))}'
        words: list[str | Path] = ["mmdebstrap", "--mode=root", "--variant=minbase"]
        words += ["--format=directory", '--aptopt=Apt::Install-Recommends "false"']
        words += [f"--dpkgopt=path-exclude=/usr/share/{part}/*" for part in _NOT_UNPACKED]
        words += [f"--include={','.join(PACKAGES)}", f"--essential-hook={answers}"]
        words += [f"--customize-hook={inside}", self.release.codename, tree, sources]
        self._report("starting")
        doing = "starting"

        def hear_line(line: str | None) -> None:
            nonlocal doing
            if line is not None and line.startswith("I: "):
                step = line.removeprefix("I: ").rstrip(".")
                doing = "setting it up" if step.startswith("running --") else step
            self._report(doing)

        own = self.release.codename == self.codename
        remedy = f"see its output above; {_OWN_REMEDY if own else OTHERS_REMEDY}"
        follow(user_namespace.as_root(words), hear_line, remedy=remedy, environment=_PLAIN)
        # Debian 12's mmdebstrap removes it, and 13's doesn't: one file more moves those behind it.
        run(user_namespace.as_root(["rm", "-f", tree / "var/lib/dbus/machine-id"]))
        sources.unlink()
        setup.unlink()

    def _report(self, what: str) -> None:
        self.notify(ImageProgress(self.release.title, what, time.monotonic() - self.since))


def _versions(tree: Path) -> dict[str, str]:
    """Return the versions of the packages in a root, by name."""
    words = ["dpkg-query", f"--admindir={tree}/var/lib/dpkg", "-W", "-f", "${Package} ${Version}\n"]
    pairs = (line.split() for line in run(words, remedy=install("dpkg")).splitlines())
    return {pair[0]: pair[1] for pair in pairs if len(pair) == len(("name", "version"))}

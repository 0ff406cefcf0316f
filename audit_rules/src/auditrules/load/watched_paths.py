"""The kinds of paths that audit rules watch: files or directories.

The kind matters for cost. If the path of `-w PATH` is a directory, auditctl makes a rule for the
whole tree, which is tried on every system call; a file's rule is tried on calls that touch it. A
fresh guest has none of these paths, so this table says what they are on a real system.
"""

from __future__ import annotations

from collections.abc import Iterable

from auditrules.model.rule import Rule

_REASONS = {
    "the Filesystem Hierarchy Standard has it so": (
        "/bin /boot /etc /home /lib /lib64 /media /mnt /opt /root /run /sbin /srv /tmp /usr"
        " /usr/bin /usr/lib /usr/lib64 /usr/libexec /usr/local /usr/local/bin /usr/local/sbin"
        " /usr/sbin /usr/share /var /var/cache /var/lib /var/log /var/run /var/spool /var/tmp"
    ),
    "pam_faillock keeps a file for each user in it": (
        "/run/faillock /var/log/faillock /var/run/faillock"
    ),
    "cron and at keep a file for each job or user in it": (
        "/etc/cron.daily /etc/cron.hourly /etc/cron.monthly /etc/cron.weekly /var/spool/at"
        " /var/spool/cron /var/spool/cron/crontabs"
    ),
    "a service keeps its configuration in it": (
        "/etc/NetworkManager /etc/apparmor /etc/apt /etc/audisp /etc/audit /etc/containerd"
        " /etc/dbus-1 /etc/default /etc/docker /etc/firewalld /etc/ipsec /etc/kubernetes"
        " /etc/netplan /etc/network /etc/pki /etc/polkit-1 /etc/postfix /etc/rsyslog /etc/security"
        " /etc/selinux /etc/ssh /etc/ssl /etc/stunnel /etc/sysconfig /etc/sysconfig/network-scripts"
        " /etc/systemd /root/.ssh /usr/lib/systemd /usr/share/selinux"
    ),
    "a service keeps its files in it": (
        "/boot/grub /boot/grub2 /var/lib/containerd /var/lib/docker /var/lib/selinux /var/log/audit"
        " /var/log/journal"
    ),
}
_DIRECTORIES = {path: reason for reason, paths in _REASONS.items() for path in paths.split()}

_NOT_MADE = ("/dev/", "/proc/", "/sys/")
"""The kernel owns what is below these, so it can't be created."""


def reason(path: str) -> str | None:
    """Return why a path without a trailing slash is a directory; None if it is a file."""
    if path.endswith(".d"):
        return "a name that ends in .d is a directory's by convention"
    return _DIRECTORIES.get(path)


def paths(
    rules: Iterable[Rule], directories: Iterable[str] = (), files: Iterable[str] = ()
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the directories and files that the rules need, each sorted.

    The given `directories` and `files` are included. The parent of another path is a directory.
    """
    trees, others = set(directories), set(files)
    for rule in rules:
        trees.update(rule.watched_directories)
        others.update(rule.watched_files)
    above = {path[:at] for path in trees | others for at, c in enumerate(path) if c == "/"}
    trees |= {path for path in others if path in above or reason(path)}
    return _creatable(trees), _creatable(others - trees)


def as_written(directories: Iterable[str], files: Iterable[str]) -> tuple[str, ...]:
    """Return directories and files as a profile names them: a directory ends in a slash.

    Those that a profile can't name are left out.
    """
    named = (*(f"{path}/" for path in directories), *files)
    return tuple(sorted(path for path in named if why_refused(path) is None))


def why_refused(path: str) -> str | None:
    """Return why a guest can't have a path, as a profile may name one; None if it can."""
    if not path.startswith("/") or not path.isprintable():
        return "it has to begin with / and consist of printable characters"
    if any(part in {"", ".", ".."} for part in path.strip("/").split("/")):
        return "it has to be plain, without //, . and .."
    if path.startswith(_NOT_MADE):
        return "the kernel owns what is there"
    return None


def _creatable(found: Iterable[str]) -> tuple[str, ...]:
    """Return the paths, sorted, without those that can't be created."""
    return tuple(sorted(path for path in found if path != "/" and not path.startswith(_NOT_MADE)))


def notes(rules: Iterable[Rule]) -> tuple[str, ...]:
    """Return a note for each watched path that is a directory without a trailing slash."""
    found = []
    for rule in rules:
        for path in rule.watched_files:
            why = reason(path)
            if why is not None:
                found.append(f"{rule.place}: {path} is treated as a directory: {why}")
    return tuple(found)

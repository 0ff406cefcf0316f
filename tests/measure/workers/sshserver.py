"""A server of OpenSSH for one test, on the loopback network: Debian's, unpacked and not installed.

An installed one would be a service of this machine. Root's server wants a user and a folder of its
own, another's has to be free to leave terminals as they are: it runs in a mount namespace where
that is so, and this machine stays as it is.
"""

from __future__ import annotations

import os
import re
import socket
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from hardcost.supply.cache.cache import Cache
from hardcost.supply.cache.location import default_root
from hardcost.supply.packages.debian import package_folder
from tests.measure.workers.labs import until

SERVER = """
ListenAddress 127.0.0.1
Port {port}
HostKey {folder}/host
AuthorizedKeysFile {folder}/user.pub
PidFile none
StrictModes no
UsePAM no
PasswordAuthentication no
PermitRootLogin prohibit-password
AcceptEnv HARDCOST_CACHE PYTHONPATH
"""
CLIENT = """
Host lab-*
HostName 127.0.0.1
Port {port}
IdentityFile {folder}/user
IdentitiesOnly yes
UserKnownHostsFile /dev/null
StrictHostKeyChecking no
SendEnv HARDCOST_CACHE PYTHONPATH
"""
PARTS = {"sshd-session": "SshdSessionPath", "sshd-auth": "SshdAuthPath"}
"""Programs beside sshd since Debian 13, and the options that say where they are."""

# $1 has what the server is to see in /etc; the rest starts it. Root's would keep a log of logins.
APART = """\
for path in "$1"/*; do mount --bind "$path" "/etc/${path##*/}"; done
for folder in /run /var/log; do mount -t tmpfs -o mode=755 none "$folder"; done
mkdir /run/sshd
shift
exec "$@"
"""
_MISSING = re.compile(r"^\s*(lib\w+)\.so\.(\d+) => not found", re.MULTILINE)


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Path]:
    """Run a server that lets in who has this test's key; give the configuration of its client."""
    cache = Cache(default_root())
    files = package_folder(cache, "openssh-server")
    sshd, beside = files / "usr/sbin/sshd", files / "usr/lib/openssh"
    parts = {beside / name: option for name, option in PARTS.items() if (beside / name).exists()}
    for name in ("host", "user"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)]
        subprocess.run(words, check=True)
    more = "".join(f'{option} "{path}"\n' for path, option in parts.items())
    port = free_port()
    for name, text in (("server", SERVER + more), ("client", CLIENT)):
        (tmp_path / name).write_text(text.format(port=port, folder=tmp_path))
    argv = ["setpriv", "--pdeathsig", "KILL", str(sshd), "-D", "-e", "-f", str(tmp_path / "server")]
    user, group = os.getuid(), os.getgid()
    seen, apart = tmp_path / "etc", ["--mount"]
    if user:  # root in a user namespace, to mount, and then itself again
        apart += ["--user", "--map-root-user"]
        argv = ["unshare", "--user", f"--map-user={user}", f"--map-group={group}", *argv]
    write_users(seen)
    argv = ["unshare", *apart, "sh", "-euc", APART, "sh", str(seen), *argv]
    log = tmp_path / "server.log"
    log.touch()
    own = {**os.environ, "LD_LIBRARY_PATH": libraries(cache, [sshd, *parts])}
    with log.open("w") as errors:
        process = subprocess.Popen(argv, env=own, stderr=errors, text=True)
    try:
        until(log, "Server listening", process)
        yield tmp_path / "client"
    finally:
        process.terminate()
        process.wait()


def libraries(cache: Cache, programs: Sequence[Path]) -> str:
    """Return the folders of the libraries that programs need and this machine lacks."""
    folders: list[Path] = []
    seen: set[str] = set()
    while True:
        own = {**os.environ, "LD_LIBRARY_PATH": ":".join(map(str, folders))}
        said = subprocess.run(["ldd", *programs], check=True, capture_output=True, env=own)
        missing = {"".join(found) for found in _MISSING.findall(said.stdout.decode())}
        if not missing:
            return own["LD_LIBRARY_PATH"]
        assert not missing & seen, f"not in the packages of their names: {missing & seen}"
        seen |= missing
        for package in sorted(missing):
            place = package_folder(cache, f"{package}t64 | {package}")
            folders += place.rglob("*-linux-gnu")


def write_users(folder: Path) -> None:
    """Write this machine's users as the server is to see them.

    Root may log in, and there is the user that root's server becomes. No other user may give a
    terminal to the group that terminals usually belong to, so there that group is missing.
    """
    folder.mkdir()
    if os.getuid() == 0:
        passwd, shadow = (Path("/etc", name).read_text() for name in ("passwd", "shadow"))
        if "\nsshd:" not in passwd:
            passwd += "sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin\n"
        (folder / "passwd").write_text(passwd)
        (folder / "shadow").touch(mode=0o600)
        (folder / "shadow").write_text(re.sub(r"^root:[^:]*", "root:*", shadow, flags=re.MULTILINE))
    else:
        group = Path("/etc/group").read_text()
        (folder / "group").write_text(re.sub(r"^tty:.*\n", "", group, flags=re.MULTILINE))

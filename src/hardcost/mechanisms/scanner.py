"""The on-access virus scanner in a Debian guest: ClamAV's clamonacc, which asks its clamd.

The kernel notifies clamonacc of each file that is opened or read below the watched directories, and
clamonacc passes it to clamd. It passes the open file (`--fdpass`), since clamd, which is not root,
could not open a new copy that does not have its mode yet. Files that clamd itself opens are
allowed.

The database is made for the trial, since the real one is available from the network only: the
signature of the EICAR test file, and others that match nothing, half of them checksums of whole
files, half byte sequences. A small file costs the same with ten thousand of them as with a hundred
(measured); a real database has millions, of more kinds, so the cost is a lower bound.

In each trial a test file in each watched directory must be refused, or reported without prevention.
A directory that can't be written to, such as the tree on its own disk, can hold no test file, so
the kernel is asked which directories are watched. clamonacc gives up a directory below which
another file system is mounted; name that file system itself.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

from pydantic import BaseModel, Field, StrictBool, StrictInt

from hardcost.controls.control import Control, first, of_kind
from hardcost.errors import TrialError
from hardcost.mechanisms import replies
from hardcost.mechanisms.mechanism import (
    TABLE,
    AbsolutePath,
    Mechanism,
    Phase,
    ServiceTable,
    TableSource,
)
from hardcost.protocol import ask
from hardcost.protocol.answers import Answer, RanAnswer, StoppedAnswer, all_of, answer_named
from hardcost.protocol.requests import Ready, Request
from hardcost.toml.write import TomlEntry

DAEMON = "clamd"
SERVICE = "clamonacc"
SIGNATURE = "Hardcost.Eicar"

_SOCKET = "/run/clamav/clamd.ctl"
_CONFIG = "/etc/clamav/clamd.conf"
_DATABASE = "/var/lib/clamav"
_CONTEXT = "unconfined_u:unconfined_r:unconfined_t:s0"
_LOG = f"/run/hardcost/{SERVICE}.log"
_TEST = "hardcost-eicar"
_REFUSED = 1  # how `cat` ends when it may not open its file
_SHOWN = 3  # lines of a log that a message repeats

# Debian's clamd.conf where it differs from ClamAV's defaults; no pauses, no clock in the log.
_CONFIGURATION = """\
LocalSocket {socket}
LocalSocketMode 666
User clamav
Foreground yes
DatabaseDirectory {database}
LogTime no
SelfCheck 0
MaxThreads 12
MaxScanSize 100M
MaxFileSize 25M
OnAccessMaxFileSize 5M
OnAccessPrevention {prevention}
OnAccessExcludeUname clamav
{paths}"""

# SELinux knows the folders' labels; AppArmor's profile of clamd allows it /home alone.
_PREPARE = """
for path; do
  mkdir -p "$path"
  cp /run/hardcost-eicar "$path/hardcost-eicar" || echo "$path can't be written to"
done 2>/dev/null
set -e
mkdir -p /run/clamav
chown clamav:clamav /run/clamav
if [ -e /sys/fs/selinux/enforce ]; then restorecon -R /run/clamav /var/lib/clamav; fi
if grep -q '^/usr/sbin/clamd ' /sys/kernel/security/apparmor/profiles 2>/dev/null; then
  for path; do echo "$path/** r,"; done > /etc/apparmor.d/local/usr.sbin.clamd
  apparmor_parser -r -K -O no-expr-simplify /etc/apparmor.d/usr.sbin.clamd
fi
"""

# Without prevention a file is scanned beside; it is logged within moments, or never.
_FOUND = f"""
for test; do
  [ -e "$test" ] || continue
  for i in $(seq 40); do grep -q "^$test: " {_LOG} && break; sleep 0.05; done
done
cat {_LOG}
"""

# The kernel names each directory that clamonacc has it watch, which is when it is ready: that it
# watches a directory it says before it does.
_WATCHED = """
wanted=$(for path; do find "$path" -xdev -type d; done | wc -l)
for i in $(seq 1000); do
  watched=$(cat /proc/$(pidof clamonacc)/fdinfo/* 2>/dev/null | grep -c '^fanotify ino:')
  [ "$watched" -ge "$wanted" ] && break
  grep -q '^ERROR: ' /run/hardcost/clamonacc.log && break
  sleep 0.05
done
echo "$wanted $watched"
"""


def eicar() -> bytes:
    """Return the EICAR test file, which is harmless, and which every scanner detects.

    It is put together here, lest a scanner finds it in this very file.
    """
    first, last = rb"X5O!P%@AP[4\PZX54(P^)7CC)7}$EI", b"CAR-STANDARD-ANTI"
    return first + last + b"VIRUS-TEST-FILE!$H+H*"


def database(signatures: int) -> dict[str, str]:
    """Return the files of a database: EICAR's signature, and as many as asked for besides."""
    test = hashlib.md5(eicar(), usedforsecurity=False).hexdigest()
    sums = [f"{test}:{len(eicar())}:{SIGNATURE}"]
    sequences = []
    for number in range(signatures):
        made_up = hashlib.sha256(f"hardcost {number}".encode()).hexdigest()
        if number % 2:
            sums.append(f"{made_up[:32]}:{1024 + number}:Hardcost.Sum.{number}")
        else:
            sequences.append(f"Hardcost.Sequence.{number}:0:*:{made_up}")
    files = {"hardcost.hdb": sums, "hardcost.ndb": sequences}
    return {name: "".join(f"{line}\n" for line in lines) for name, lines in files.items() if lines}


_IDS = ("RHEL-09-211025",)
"""The first two versions of the STIG require it by a vendor's name; the slides by this id."""


@dataclass(frozen=True)
class Scanner(Control):
    """The on-access virus scanner: ClamAV scans each file under `paths` before it is opened.

    With `prevention`, opening waits for the verdict, and an infected file is refused; without, the
    scan runs concurrently and is logged. `signatures` is the number of made-up ones in its
    database.
    """

    paths: tuple[str, ...] = ("/home", "/srv/tree")
    prevention: bool = True
    signatures: int = 100

    packages: ClassVar[tuple[str, ...]] = ("clamav-daemon",)
    whole_system: ClassVar[bool] = True
    suspect: ClassVar[bool] = True
    mechanism: ClassVar[str] = "scanner"
    single: ClassVar[bool] = True

    @property
    def name(self) -> str:
        plain = Scanner()
        words = ["on-access scanner"]
        words += [f"paths={','.join(self.paths)}"] * (self.paths != plain.paths)
        words += ["without prevention"] * (not self.prevention)
        words += [f"signatures={self.signatures}"] * (self.signatures != plain.signatures)
        return " ".join(words)


class ScannerTable(ServiceTable):
    """`scanner = true | { … }`: the on-access virus scanner.

    `paths` are the directories that it scans, recursively; `prevention` refuses infected files;
    `signatures` is the number of made-up ones in its database.
    """

    paths: Annotated[tuple[AbsolutePath, ...], Field(min_length=1)] = Scanner.paths
    prevention: StrictBool = Scanner.prevention
    signatures: Annotated[StrictInt, Field(ge=0, le=1_000_000)] = Scanner.signatures


class ScannerKeys(BaseModel):
    """`scanner` is the on-access virus scanner."""

    model_config = TABLE

    scanner: ScannerTable | None = None


class ScannerMechanism(Mechanism[ScannerKeys]):
    """ClamAV, which scans each file before it is opened."""

    name = "scanner"
    why_no_ansible_tasks = "the scanner and its signatures are your choice"
    toml = "`scanner = true`, or `{ paths, prevention, signatures }`"
    verified_by = "the EICAR test file, which has to be refused"
    keys = ScannerKeys
    phase = Phase.SCANNER

    def read(self, table: ScannerKeys, source: TableSource) -> Iterator[Control]:
        own = table.scanner
        if own is not None and own.enabled:
            paths, place = tuple(dict.fromkeys(own.paths)), source.place("scanner")
            yield Scanner(paths, own.prevention, own.signatures, ids=_IDS, place=place)

    def write(self, controls: Sequence[Control]) -> Iterator[TomlEntry]:
        for one in of_kind(controls, Scanner):
            yield TomlEntry(("scanner", "paths"), list(one.paths), (one.name,))
            yield TomlEntry(("scanner", "prevention"), one.prevention, (one.name,))
            yield TomlEntry(("scanner", "signatures"), one.signatures, (one.name,))

    def requests(self, controls: Sequence[Control]) -> tuple[Request, ...]:
        """Return the requests that configure, start and try both daemons."""
        control = first(controls, Scanner)
        if control is None:
            return ()
        tests = [f"{path}/{_TEST}" for path in control.paths]
        files = database(control.signatures).items()
        return (
            *(ask.install(f"{_DATABASE}/{name}", text) for name, text in files),
            ask.install(_CONFIG, _configuration(control)),
            ask.install("/run/hardcost-eicar", eicar()),
            ask.run("scanner-prepare", ["sh", "-c", _PREPARE, "sh", *control.paths]),
            ask.start(
                DAEMON,
                ["/usr/bin/env", "/usr/sbin/clamd", f"--config-file={_CONFIG}"],
                ready=Ready(unix=_SOCKET, send="PING\n", expect="PONG"),
                context=_CONTEXT,
            ),
            ask.start(
                SERVICE,
                ["/usr/sbin/clamonacc", "--foreground", f"--config-file={_CONFIG}", "--fdpass"],
                ready=Ready(file=_LOG, contains=f"watching '{control.paths[-1]}'"),
                context=_CONTEXT,
            ),
            ask.run("scanner-watched", ["sh", "-c", _WATCHED, "sh", *control.paths]),
            *(ask.run(f"scanner-refuses {test}", ["cat", test], expect=None) for test in tests),
            ask.run("scanner-found", ["sh", "-c", _FOUND, "sh", *tests]),
            ask.run("scanner-cleared", ["rm", "-f", *tests]),
        )

    def finish(self, controls: Sequence[Control]) -> tuple[Request, ...]:
        """Return the requests that stop both daemons, the one that asks the other first."""
        if first(controls, Scanner) is None:
            return ()
        return (ask.stop(SERVICE), ask.stop(DAEMON))

    def verify(self, controls: Sequence[Control], answers: Sequence[Answer]) -> tuple[str, ...]:
        """Check that the test file was detected in each watched directory, and refused if asked.

        Returns notes: how small the database is; what the scanner found or could not scan.

        Raises:
            TrialError: A test file was not detected or not refused, or a directory is not watched.
        """
        control = first(controls, Scanner)
        if control is None:
            return ()
        _check_detection(control, answers)
        said = replies.output(answers, "scanner-watched").split()
        if len(said) != 2 or not all(map(replies.is_number, said)):  # noqa: PLR2004  (of how many)
            raise TrialError(f"the guest does not say what the scanner watches: {said[:_SHOWN]}")
        wanted, watched = map(int, said)
        if watched < wanted:
            raise TrialError(
                f"{control.name} did not take: it watches {watched} of {wanted} directories",
                hint="name each mounted file system by itself, and none above another",
                console=replies.output(answers, "scanner-found"),
            )
        few = f"the scanner's database has {control.signatures + 1} signatures of our own"
        notes = [f"{few}, a real one millions: what it costs is a lower bound"]
        if all_of(answers, StoppedAnswer):
            notes += _notes_of_end(answers)
        return tuple(notes)


def _check_detection(control: Scanner, answers: Sequence[Answer]) -> None:
    """Check that the test files were detected, and refused if they are to be."""
    found = replies.output(answers, "scanner-found")
    untried = replies.output(answers, "scanner-prepare").splitlines()
    for path in control.paths:
        test = f"{path}/{_TEST}"
        if f"{path} can't be written to" in untried:
            continue
        if f"{test}: {SIGNATURE}" not in found:
            raise TrialError(
                f"{control.name} did not take: it did not detect the EICAR test file in {path}",
                hint="if another file system is mounted below it, name that one instead",
                console=found,
            )
        refused = answer_named(answers, RanAnswer, f"scanner-refuses {test}")
        if control.prevention and refused.status != _REFUSED:
            raise TrialError(
                f"{control.name} did not take: it let the EICAR test file in {path} be read",
                console=found,
            )


def _notes_of_end(answers: Sequence[Answer]) -> list[str]:
    """Return notes of files of the workload that the scanner flagged, or could not scan."""
    stopped = answer_named(answers, StoppedAnswer, SERVICE)
    lines = [
        line
        for text in stopped.logs.values()
        for line in text.splitlines()
        if f"/{_TEST}: " not in line
    ]
    notes = []
    if infected := [line for line in lines if line.endswith(" FOUND")]:
        notes.append(f"the scanner found {len(infected)} of the workload's files infected")
    if failed := [line for line in lines if "ERROR" in line]:
        shown = "; ".join(failed[:_SHOWN])
        notes.append(f"the scanner could not scan {len(failed)} times, as its log says: {shown}")
    return notes


def _configuration(control: Scanner) -> str:
    """Return the configuration that both daemons read."""
    return _CONFIGURATION.format(
        socket=_SOCKET,
        database=_DATABASE,
        prevention="yes" if control.prevention else "no",
        paths="".join(f"OnAccessIncludePath {path}\n" for path in control.paths),
    )


ON_ACCESS_SCANNER = ScannerMechanism()

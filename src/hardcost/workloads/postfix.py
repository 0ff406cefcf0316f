"""The workload `postfix`: mails sent by smtp-source to Postfix and delivered to a mailbox.

The server is Debian's with its configuration, but for `_CHANGES`: settings by which it would sleep,
since a sleep would be measured as work. It logs to syslog; whether that log is written is up to the
configuration (`rsyslog`). As published, the mailbox is emptied before each test.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Self

from pydantic import Field, model_validator

from hardcost.errors import TrialError
from hardcost.instruments.instrument import Instrument
from hardcost.instruments.windows import Together, Windows
from hardcost.protocol.answers import Answer
from hardcost.protocol.ask import install, run, start, stop
from hardcost.protocol.requests import Ready, Request
from hardcost.workloads import programs, server_load
from hardcost.workloads.kind import WorkloadKind
from hardcost.workloads.metric import MetricSamples
from hardcost.workloads.parameters import DISTINCT, JOINED, WorkloadParameters, whole_number

# They are in master.cf, since Postfix sleeps until its main.cf has not been changed for some
# seconds: a daemon that starts under load would be measured asleep.
_CHANGES = {
    # It sleeps a second where mails come in faster than they are delivered.
    "in_flow_delay=0s in cleanup": r"/^cleanup /a\  -o in_flow_delay=0s",
    # Who finds the mailbox locked by another delivery sleeps about a second, drawn at random.
    "one process of local": r"/^local /s/-([[:space:]]+local)$/1\1/",
    # Each costs as much to start as several mails. How many a hundred come to is chance; these few
    # are there after the warm-up, and stay.
    "at most 4 of smtpd": r"/^smtp .*smtpd$/s/-([[:space:]]+smtpd)$/4\1\n  -o max_use=1000000/",
}

_MOST_AT_ONCE = 1000
_WARM_UP = 20  # mails at least that are not measured: Postfix's daemons start when needed, and stay
_MOST_MAILS = 10_000_000
_DOMAIN = "postfix_master_t"
_SERVICE = "postfix"
_SPOOL = "/var/spool/postfix"
_MAILBOX = "/var/mail/user"
_IN_JAIL = "/etc/hosts /etc/services /etc/nsswitch.conf /etc/resolv.conf /etc/localtime"
_CONFIGURE = (
    "sed -i -E "
    + " ".join(f"-e '{change}'" for change in _CHANGES.values())
    + " /etc/postfix/master.cf"
    # Debian 13's package leaves the folders of the spool to the first start.
    + f" && {{ test -d {_SPOOL}/pid || postfix check; }}"
    + f" && mkdir -p {_SPOOL}/etc && cp {_IN_JAIL} {_SPOOL}/etc"
)
_QUEUE = f"cd {_SPOOL} && find incoming active deferred maildrop -type f"
# The queue manager removes a mail's file when it hears that the mail was delivered.
_EMPTY = f'for try in $(seq 100); do test -z "$({_QUEUE})" && exit; sleep 0.05; done; {_QUEUE}'

_WAITER = "waiter"
_GO, _DONE = f"{programs.HOME}/go", f"{programs.HOME}/done"
# Reads how many mails to wait for, and waits until the mailbox holds them: by inotify, not to wake
# in vain.
_WAIT = r"""
use POSIX ();
my ($mailbox, $go, $done) = @ARGV;
POSIX::mkfifo($_, 0600) or die "$_: $!" for $go, $done;
while (1) {
    open(my $asked, "<", $go) or die "$go: $!";
    my ($wanted, $count, $event) = (scalar(<$asked>), 0);
    my $watch = syscall(294, 0);                                # inotify_init1
    die "inotify: $!" if $watch < 0 || syscall(254, $watch, $mailbox, 8) < 0;  # a writer closes it
    open(my $events, "<&=", $watch) or die "inotify: $!";
    open(my $mails, "<", $mailbox) or die "$mailbox: $!";
    while (1) {
        while (<$mails>) { $count++ if /^From / }
        last if $count >= $wanted;
        sysread($events, $event, 4096) or die "inotify: $!";
        seek($mails, 0, 1);
    }
    open(my $answer, ">", $done) or die "$done: $!";
    print $answer "$count\n";
}
"""
_AWAIT = f"echo $1 >{_GO}; read count <{_DONE}; echo $count"


_Clients = Annotated[int, whole_number(_MOST_AT_ONCE)]


class Parameters(WorkloadParameters):
    """How many mails are sent, and in how many sessions at once."""

    concurrency: Annotated[tuple[_Clients, ...], JOINED, DISTINCT] = Field(
        (1, 20),
        description="how many sessions at once, joined by '+', each 1 to 1000 (default: 1+20;"
        " published: 4 values from 1 to 1000)",
    )
    mails: Annotated[int, whole_number(_MOST_MAILS)] = Field(
        100, description="how many mails at each (default: 100; published: 10000)"
    )

    @model_validator(mode="after")
    def _has_work(self) -> Self:
        server_load.check_work(self.concurrency, self.mails)
        return self


def requests(parameters: Parameters, instrument: Instrument) -> list[Request]:
    """Return the requests to the probe."""
    count = parameters.mails
    loads: list[Request] = []
    for sessions in parameters.concurrency:
        loads += [
            run("empty the mailbox", ["truncate", "--size=0", _MAILBOX]),
            _load_request(f"sent-{sessions}", _smtp_source(count, sessions), instrument),
            _load_request(f"rest-{sessions}", _await(count), instrument),
            run(f"queue-{sessions}", ["sh", "-c", _EMPTY], expect=None),
            run(f"mailbox-{sessions}", ["grep", "-c", "^From ", _MAILBOX], expect=None),
        ]
    most = max(parameters.concurrency)
    first = max(most, _WARM_UP)
    warm_up = [
        programs.as_user("warm up", _smtp_source(first, most), expect=0),
        programs.as_user("warmed up", _await(first), expect=0),
    ]
    return [*_setup_requests(), *warm_up, *loads, stop(_WAITER), stop(_SERVICE)]


def read_metrics(
    parameters: Parameters, answers: Sequence[Answer], instrument: Instrument
) -> tuple[MetricSamples, ...]:
    """Return the cost of a mail at each concurrency, and of all of them.

    Raises:
        TrialError: A mail was not taken or not delivered.
    """
    server_load.check_domain(answers, _SERVICE, _DOMAIN)
    count = parameters.mails
    metrics, everything = [], []
    for sessions in parameters.concurrency:
        sent = programs.successful_answer(
            answers, f"sent-{sessions}", f"smtp-source in {sessions} sessions"
        )
        rest = programs.successful_answer(
            answers, f"rest-{sessions}", "waiting for mails to be delivered"
        )
        check(answers, count, sessions)
        everything += [sent, rest]
        metrics += [
            server_load.per_operation(f"sent-{sessions}", instrument, count, sent),
            server_load.per_operation(f"delivered-{sessions}", instrument, count, sent, rest),
        ]
    return (*metrics, server_load.whole_metric("all", instrument, everything))


def windows(
    parameters: Parameters,
    answers: Sequence[Answer],
    instrument: Instrument,  # noqa: ARG001  (the interface's)
) -> tuple[Windows | Together, ...]:
    """Return what sending and delivering took at each concurrency, and all together."""
    found: list[Windows | Together] = []
    names: list[str] = []
    for sessions in parameters.concurrency:
        both = f"sent-{sessions}", f"rest-{sessions}"
        found += programs.windows(answers, both, parameters.mails)
        found.append(Together(f"delivered-{sessions}", both, parameters.mails))
        names += both
    return (*found, Together("all", tuple(names)))


def operations(parameters: Parameters) -> dict[str, int]:
    """Return how many mails each program sends; what waits for them sends none."""
    count, numbers = parameters.mails, parameters.concurrency
    return {f"sent-{n}": count for n in numbers} | {f"rest-{n}": 0 for n in numbers}


def check(answers: Sequence[Answer], mails: int, sessions: int) -> None:
    """Make sure that each mail is in the mailbox once, and none in the queue.

    Raises:
        TrialError: One isn't.
    """
    queue = programs.successful_answer(answers, f"queue-{sessions}", "looking at the queue").stdout
    if queue.strip():
        left = queue.split()
        raise TrialError(
            f"{len(left)} mails are still in Postfix's queue: {', '.join(left[:8])}",
            hint="they were not delivered; look at its log, with rsyslog",
        )
    found = programs.successful_answer(
        answers, f"mailbox-{sessions}", "counting mails"
    ).stdout.strip()
    if found != str(mails):
        raise TrialError(f"{found} of {mails} mails were delivered, in {sessions} sessions")


def _load_request(name: str, argv: Sequence[str], instrument: Instrument) -> Request:
    return programs.as_user(name, argv, instrument, limit_seconds=server_load.LIMIT_SECONDS)


def _smtp_source(mails: int, sessions: int) -> list[str]:
    words = ["smtp-source", "-s", str(sessions), "-m", str(mails)]
    return [*words, "-f", "user@localhost", "-t", "user@localhost", "127.0.0.1:25"]


def _await(mails: int) -> list[str]:
    """Return the command that ends when so many mails are delivered."""
    return ["sh", "-c", _AWAIT, "sh", str(mails)]


def _setup_requests() -> list[Request]:
    """Return the requests that configure and start the server."""
    return [
        run("set up Postfix", ["sh", "-c", _CONFIGURE]),
        install(_MAILBOX, "", 0o660, "user", "mail"),
        server_load.labels(_SPOOL, "/etc/postfix", "/var/mail"),
        start(
            _SERVICE,
            ["/usr/lib/postfix/sbin/master", "-s"],
            ready=Ready(tcp=25, expect="220 "),
        ),
        start(
            _WAITER,
            ["perl", "-e", _WAIT, _MAILBOX, _GO, _DONE],
            user="user",
            context=programs.CONTEXT,
            ready=Ready(file=_DONE),
        ),
    ]


KIND = WorkloadKind(
    name="postfix",
    title=(
        "a mail of smtp-source to Postfix, from the first until the last is sent (sent-N: N"
        " sessions at once) and until all are in the mailbox (delivered-N), and all of them (all)"
    ),
    parameters=Parameters,
    audit_note=(
        "a mail's cost holds what the one processor does with audit records until all are sent, or"
        " delivered"
    ),
    settings=(
        "Postfix has Debian's configuration but for "
        + ", ".join(_CHANGES)
        + "; delivered-N holds the work of a program that waits for the last mail"
    ),
    guest="debian",
    packages=("postfix",),
    # Ticks fall elsewhere when a load begins later (docs/determinism.md).
    resolution=0.005,
    requests=requests,
    measured=read_metrics,
    windows=windows,
    operations=operations,
)

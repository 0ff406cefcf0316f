"""Programs and services in a Debian guest: who they are, and how each way to fail is reported."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from hardcost.errors import TrialError
from hardcost.instruments import audit, avc, cpu
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.protocol import ask, requests
from hardcost.protocol.answers import Answer, BootedAnswer
from hardcost.protocol.boot import Boot
from hardcost.protocol.requests import Request
from hardcost.supply.cache.cache import Cache
from tests.protocol.json_messages import plain

pytestmark = pytest.mark.vm

ICOUNT = Hardware("icount")
DEBIAN = Boot(guest="debian")
ENFORCING = Boot(("security=selinux", "selinux=1", "enforcing=1"), guest="debian")
LIMIT_SECONDS = 300  # of host time, for a job of seconds, on a host that is busy

# A service that says what it hears, and keeps a log on the disk.
ECHO = r"""
use IO::Socket::INET;
$| = 1;
open my $log, '>>', '/var/log/echo.log';
$log->autoflush(1);
my $socket = IO::Socket::INET->new(LocalAddr => '127.0.0.1:7777', Listen => 5) or die "no: $!\n";
print "listening\n";
while (my $client = $socket->accept) {
    my $line = <$client>;
    print $log "heard $line" or die "its log: $!\n";
    print $log '.' x 10_000 or die "its log: $!\n" if $line =~ /^fill/;
    exec 'false' if $line =~ /^die/;
    kill STOP => $$ if $line =~ /^hang/;
    print $client "you said $line";
    close $client;
}
"""
ASK = r"""
use IO::Socket::INET;
my $socket = IO::Socket::INET->new(PeerAddr => '127.0.0.1:7777') or die "no server: $!\n";
print $socket "$ARGV[0]\n";
print scalar <$socket>;
"""
READY = requests.Ready(tcp=7777, send="hello\n", expect="you said hello")

# Whoever opens a file on the root waits for this one, which lets no process through: fanotify_init
# with FAN_CLASS_CONTENT, fanotify_mark with FAN_MARK_ADD | FAN_MARK_MOUNT and FAN_OPEN_PERM.
GATE = r"""
my $fan = syscall(300, 4, 0);
my $root = '/';
syscall(301, $fan, 0x11, 0x10000, -100, $root) == 0 or die "fanotify: $!\n";
open my $file, '>', '/run/gate' or die;
close $file;
kill STOP => $$;
sleep 1000;
"""


def echo(**more: Any) -> Request:  # noqa: ANN401  (the fields of a request)
    start = ask.start("echo", ["perl", "-e", ECHO], ready=READY, logs=["/var/log/echo.log"])
    return start.model_copy(update=more)


def asked(text: str, **more: Any) -> Request:  # noqa: ANN401  (the fields of a request)
    return ask.run(f"ask-{text}", ["perl", "-e", ASK, text]).model_copy(update=more)


def shell(name: str, script: str) -> Request:
    return ask.run(name, ["sh", "-c", script])


def execute(cache_root: Path, job: list[Request], boot: Boot = DEBIAN) -> tuple[Answer, ...]:
    """Return the probe's answers, without the machine's own."""
    machine = VirtualMachine(Cache(cache_root), ICOUNT)
    answers = asyncio.run(machine.execute(boot, job, LIMIT_SECONDS)).answers
    return tuple(one for one in answers if not isinstance(one, BootedAnswer))


def failure(cache_root: Path, *job: Request) -> TrialError:
    with pytest.raises(TrialError) as caught:
        execute(cache_root, list(job))
    return caught.value


@pytest.mark.slow
def test_a_program_is_who_it_was_asked_to_be_and_sees_what_it_was_given(cache_root: Path) -> None:
    script = "id -un; id -Gn; cat /proc/self/loginuid; echo; pwd; cat; cat /home/user/secret"
    job: list[Request] = [
        ask.install("/home/user/secret", "mine\n", 0o600, "user", "user"),
        ask.run(
            "who",
            ["sh", "-c", script],
            clock="tsc",
            user="user",
            login=requests.USER,
            folder="/home/user",
            stdin="read\n",
        ),
        ask.run("mail", ["sh", "-c", "id -Gn"], user="postfix"),
        requests.DropCaches(),
        ask.mount("/home", ["noexec", "nosuid", "nodev"]),
        ask.run("exec", ["sh", "-c", "cp /bin/true /home/t; /home/t"], expect=126),
        ask.read("secret", "/home/user/secret", 3),
    ]
    _, who, mail, dropped, mounted, denied, content = plain(execute(cache_root, job))[1:]
    assert who["stdout"].split("\n") == ["user", "user", "1000", "/home/user", "read", "mine", ""]
    assert who["ticks"] > 1_000_000
    assert mail["stdout"].split()[0] == "postfix"
    assert dropped == {"event": "dropped"}
    assert {"noexec", "nosuid", "nodev"} <= set(mounted["options"])
    assert "Permission denied" in denied["stderr"]
    assert (content["text"], content["bytes"]) == ("ne\n", 5)


@pytest.mark.slow
def test_the_first_random_numbers_cost_no_more_than_a_cold_start(cache_root: Path) -> None:
    take = ["perl", "-e", "my $b = ' ' x 8; syscall(318, $b, 8, 0) == 8 or die"]
    job: list[Request] = [ask.run(name, take, clock="tsc") for name in ("first", "second")]
    _, first, second = plain(execute(cache_root, job))
    assert second["ticks"] <= first["ticks"] < second["ticks"] + 20_000_000


def test_a_service_answers_is_watched_and_stops(cache_root: Path) -> None:
    job: list[Request] = [
        ask.watch(["cpu", "audit", "avc"]),
        echo(),
        asked("yes", clock="tsc", user="user"),
        requests.Unwatch(),
        ask.stop("echo"),
    ]
    answers = execute(cache_root, job)
    started, said, watched, stopped = plain(answers)[2:]
    assert started["attempts"] > 1
    assert said["stdout"] == "you said yes\n"
    assert (stopped["signal"], stopped["forced"]) == (15, False)
    assert stopped["logs"]["/run/hardcost/echo.log"] == "listening\n"
    assert stopped["logs"]["/var/log/echo.log"] == "heard hello\nheard yes\n"

    seen = cpu.observation_of(answers)
    assert [step.name for step in seen.steps] == ["echo", "ask-yes"]
    assert sum(seen.totals.values()) == pytest.approx(watched["ticks"], rel=1e-6)
    assert seen.totals["perl"] > seen.totals["hardcost-probe"] > 0
    assert watched["cpu"]["exact"]
    # Cheap enough to leave on: a row takes some 60,000 instructions of ten million.
    assert seen.own_ticks < 0.05 * watched["ticks"]
    assert audit.observation_of(answers).totals["lost"] == 0
    assert avc.observation_of(answers).totals == {}


@pytest.mark.slow
def test_under_selinux_a_daemons_words_arrive_and_lookups_are_counted(cache_root: Path) -> None:
    user = "unconfined_u:unconfined_r:unconfined_t:s0"
    job: list[Request] = [
        ask.watch(["avc"], 2_000_000),
        ask.run("daemon", ["apache2", "-v"]),
        ask.run("user", ["id", "-Z"], user="user", context=user),
        echo(),
        requests.Unwatch(),
        ask.stop("echo"),
    ]
    answers = execute(cache_root, job, ENFORCING)
    _, _, daemon, who, started, watched, _ = plain(answers)
    assert daemon["stdout"].startswith("Server version: Apache/2.4")
    assert who["stdout"].strip() == user
    assert started["context"] == "system_u:system_r:initrc_t:s0"
    totals = avc.observation_of(answers).totals
    assert totals["lookups"] == totals["hits"] + totals["misses"] > 1000
    assert sum(watched["avc"]["series"]["lookups"]) == totals["lookups"]


def test_a_service_that_does_not_start_is_a_failed_trial_with_its_words(cache_root: Path) -> None:
    taken = "my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => shift); sleep 999"
    words = f"setsid perl -MIO::Socket::INET -e '{taken}' 127.0.0.1:7777"
    holder = shell("hold", f"{words} > /dev/null 2>&1 & sleep 1")
    mute = echo(ready=requests.Ready(file="/run/never"))
    error = failure(cache_root, holder, mute)
    assert "the service echo died: status" in str(error)
    assert "no: Address already in use" in error.console
    assert "port 7777 is taken" in str(failure(cache_root, holder, echo()))


@pytest.mark.slow
def test_a_service_that_dies_in_the_middle_ends_the_program_that_waits(cache_root: Path) -> None:
    # Its socket closes before it is dead, and how long before depends on the release of Debian.
    waits = ask.run("waits", ["perl", "-e", f"{ASK} sleep 100;", "die"])
    error = failure(cache_root, echo(), waits)
    assert "the service echo died: status 1" in str(error)
    assert "heard die" in error.console


@pytest.mark.slow
def test_a_service_that_hangs_is_named_when_a_program_waits_for_it(cache_root: Path) -> None:
    error = failure(cache_root, echo(), asked("hang", limit=3))
    assert "the program ask-hang did not end within 3 s" in str(error)
    assert "the service echo hung: did not answer" in str(error)
    assert "heard hang" in error.console


@pytest.mark.slow
def test_a_service_that_fills_the_disk_says_so(cache_root: Path) -> None:
    most = "fallocate -l $(($(stat -f -c '%f*%S' /))) /var/most 2> /dev/null"
    rest = "dd if=/dev/zero of=/var/rest bs=4k 2> /dev/null"
    fill = shell("fill", f"{most}; {rest}; true")
    error = failure(cache_root, echo(), fill, asked("fill"))
    assert "the service echo died" in str(error)
    assert "its log: No space left on device" in error.console
    file = ask.install("/var/lib/file", "x" * 10_000)
    assert "/var/lib/file: No space left" in str(error := failure(cache_root, fill, file))
    assert "0 bytes free" in str(error)


@pytest.mark.slow
def test_a_service_that_holds_the_probe_up_ends_the_trial(cache_root: Path) -> None:
    gate = ask.start("gate", ["perl", "-e", GATE], ready=requests.Ready(file="/run/gate"))
    error = failure(cache_root, gate, ask.read("any", "/etc/hostname"))
    assert "the probe itself hangs" in str(error)
    assert "the service gate is stopped" in str(error)

"""Trials of each workload and mechanism, whose jobs `jobs.json` keeps."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from hardcost.controls.configuration import Configuration, Setup
from hardcost.controls.control import Control
from hardcost.mechanisms.auditd import Auditd, AuditPlugin
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.fapolicyd import Fapolicyd
from hardcost.mechanisms.lsm import Lsm
from hardcost.mechanisms.mount import MountOptions
from hardcost.mechanisms.placebo import Placebo
from hardcost.mechanisms.rsyslog import Rsyslog
from hardcost.mechanisms.scanner import Scanner
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.role import Named
from hardcost.model.workload import Workload
from hardcost.plan.plan import Trial
from hardcost.profiles import catalogue
from hardcost.protocol.boot import Boot
from tests.fakes.machine import FakeMachine

AUDIT = catalogue.load("stig-reduced").controls
STIG = (*AUDIT, Sysctl("kernel.kptr_restrict", "1"), BootParameter("audit_backlog_limit=8192"))
RECORDED = ("cpu", "audit", "avc")
SERVICES: tuple[Control, ...] = (
    Lsm("enforcing"),
    MountOptions("/tmp", ("noexec", "nosuid")),  # noqa: S108  (the guest's)
    Auditd(flush="sync", settings=(("num_logs", "9"),)),
    AuditPlugin("syslog"),
    AuditPlugin("af_unix"),
    Rsyslog(forward=True, rate_limit=True),
    Fapolicyd(),
    Scanner(),
)
PLACEBOS = (Placebo("boot", 3), Placebo("sysctl", 5), Placebo("rule", 11))
OUR_PROGRAM = frozenset({"unixbench"})  # its job holds a program that each build may change
_LONGEST = 100  # characters of a text that is kept as it is
WHOLE = Setup(whole=True, record=RECORDED)


class Nowhere(FakeMachine):
    """A machine that adds nothing to a trial's identity."""

    def __init__(self) -> None:
        super().__init__(lambda _boot, _job: [])

    def identity(self, boot: Boot) -> dict[str, str]:  # noqa: ARG002  (the interface's)
        return {"machine": self.name}


def of(  # noqa: PLR0913, PLR0917  (all that a trial is made of)
    name: str,
    parameters: str = "",
    controls: tuple[Control, ...] = (),
    instrument: str = "insn",
    seed: int = 0,
    setup: Setup | None = None,
    perturbations: tuple[int, ...] = (0,),
) -> Trial:
    """Return a trial of a workload as the command line names it."""
    words = tuple(
        (key, value) for key, _, value in (one.partition("=") for one in parameters.split())
    )
    workload = Workload(name, words)
    configuration = Configuration(Named("any"), controls)
    return Trial(configuration, workload, instrument, seed, 0, perturbations, setup or Setup())


def trials(folder: Path) -> dict[str, Trial]:
    """Return trials by name; the program of one is made in `folder`."""
    program = folder / "program"
    program.write_bytes(b"\x7fELF and what follows")
    return {
        "syscalls": of("syscalls"),
        "syscalls, perturbed": of("syscalls", "calls=null+fork", perturbations=(1, 2)),
        "syscalls, some": of("syscalls", "calls=null+open", instrument="time", seed=3),
        "syscalls, STIG": of("syscalls", "calls=null+exec", STIG),
        "syscalls, placebos": of("syscalls", "calls=null", (*AUDIT, *PLACEBOS)),
        "syscalls, recorded": of("syscalls", "calls=null", AUDIT, setup=Setup(record=RECORDED)),
        "command": of("command", f"file={program} args=a+b", AUDIT),
        "command, timed": of("command", f"file={program} runs=4", instrument="time"),
        "build": of("build", "", AUDIT),
        "build, tcc": of("build", "compiler=tcc files=9 jobs=2", (Sysctl("kernel.panic", "1"),)),
        "apache-prefork": of("apache-prefork", "", (*SERVICES, *AUDIT), setup=WHOLE),
        "apache-worker": of("apache-worker", "concurrency=2+16 requests=100", STIG, setup=WHOLE),
        "postfix": of("postfix", "", (*SERVICES, *AUDIT), setup=WHOLE),
        "mariadb": of("mariadb", "", (Lsm("apparmor"), *AUDIT), setup=WHOLE),
        "mariadb, slap": of("mariadb", "tool=mysqlslap concurrency=1", setup=WHOLE),
        "fio": of("fio", "", (Lsm("permissive"), Auditd(), *AUDIT), setup=WHOLE),
        "fio, limited": of("fio", "iops=5000 mbps=200 cases=latency-read", instrument="time"),
        "dd, perturbed": of("dd", "", perturbations=(3,), setup=WHOLE),
        "dd": of("dd", "", (Lsm("none"), Rsyslog()), setup=WHOLE),
        "filecopy": of("filecopy", "concurrency=4 files=all", (Scanner(prevention=False),)),
        "unixbench": of("unixbench", "copies=cpus"),
        "unixbench, Run": of("unixbench", "program=/home/user/Run", instrument="time"),
    }


def kept(value: Any) -> Any:  # noqa: ANN401  (JSON)
    """Return JSON as it is kept: long texts by their digest."""
    if isinstance(value, dict):
        short = {key: kept(one) for key, one in value.items()}
        if "unixbench" in str(value.get("path")):
            short["base64"] = "the program, which each build may change"
        return short
    if isinstance(value, list):
        return [kept(one) for one in value]
    if isinstance(value, str) and len(value) > _LONGEST:
        return f"{value[:20]}... {hashlib.sha256(value.encode()).hexdigest()}"
    return value

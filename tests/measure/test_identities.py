"""Identities of trials stay what they are: a change measures all stored trials again."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.controls.configuration import Configuration
from hardcost.measure.prepare import FIXED_LAYOUT_SEED, prepare
from hardcost.model.role import Named
from hardcost.plan.plan import Trial
from hardcost.study.read import workload_from_words
from tests.fakes.machine import FakeMachine

# As they are now; a change of one is meant. unixbench's own program is left out: its
# bytes are part of a job.
IDENTITIES = """
6961d9c6e653e608 insn syscalls
ccfaa69dc8d85dbb insn syscalls calls=open+null
ddd4e99b2c10b299 insn build
9d7793c76a54a4f3 insn build compiler=tcc files=010 jobs=2
e04d858ba3980337 insn filecopy
39b47f1e8a4f6d18 insn filecopy concurrency=8 files=all
07b822c93c77efa8 insn fio
56a0d859730e9c62 insn fio size=512 cases=iops-randrw+latency-read iops=20000 mbps=500
0d276658f4f7403f time fio seconds=7 cases=bandwidth-read
8196e3ba0d426fac insn dd
bae38914da51de65 insn dd count=1024 cases=sync+fsync
9a31bbfb239f19c7 insn apache-prefork
4144152ee8fb6789 insn apache-worker concurrency=16+1+16 requests=100
cd2b12353b299243 insn postfix
1e3a35d997b13675 insn postfix mails=50 concurrency=7
8f708126c682db0f insn mariadb
a7871e3e61826c92 insn mariadb tool=mysqlslap transactions=10 rows=20 concurrency=2
5fb5e791380dfe9c time unixbench program=/opt/UnixBench/Run copies=cpus tests=pipe+execl
7c052c30b57baa94 insn command file=elf args=-n+4
dab204cb0d05d0ef time command file=elf runs=3
"""


@pytest.mark.parametrize("row", IDENTITIES.strip().splitlines())
def test_the_identity_of_a_workload_is_as_it_was(
    row: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    identity, instrument, text = row.split(" ", 2)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elf").write_bytes(b"\x7fELF")
    asked = workload_from_words(text)
    assert str(asked) == text
    trial = Trial(Configuration(Named("a")), asked, instrument, seed=FIXED_LAYOUT_SEED)
    assert prepare(trial, FakeMachine(lambda _boot, _job: ())).identity[:16] == identity

"""What the prover says of an edited set of rules, a real kernel confirms."""

from __future__ import annotations

from pathlib import Path

import pytest

from auditrules.auditctl.translate import AS_WRITTEN, translate_all
from auditrules.model.kernel_rule import KernelRule
from auditrules.prove.prove import prove_equal
from auditrules.read import parse
from bench.rules.sample_rules import sample_rules
from conformance.witness import run_witnesses, witness
from hardcost.machines.vm.argv import Hardware
from hardcost.machines.vm.machine import VirtualMachine
from hardcost.supply.cache.cache import Cache

pytestmark = [pytest.mark.vm, pytest.mark.slow]

STIG = "30-stig.rules"
MISSING = "-a always,exit -F arch=b64 -S open,openat -F exit=-ENOENT -F auid>=1000 -k missing\n"
NEVER = "-a never,exit -F arch=b64 -S chmod -F auid=1001\n"
EDITS = (
    ("-S unlink,unlinkat,rename", "-S unlink,rename"),  # a call dropped
    ("exit=-EACCES", "exit=-ENOENT"),  # one field's value changed
    ("-w /etc/sudoers -p wa", "-w /etc/sudoers -p w"),  # a permission dropped
    ("-w /etc/group -p wa -k identity", "-w /etc/group -p wa -k groups"),  # a key changed
)


def rules(folder: Path, text: str) -> tuple[KernelRule, ...]:
    path = folder / "x.rules"
    path.write_text(text)
    return translate_all(parse.read([path]).rules, AS_WRITTEN)[0]


@pytest.mark.usefixtures("read_for")  # and the lines that are edited are those of its samples
def test_the_kernel_confirms_the_examples_of_edits_of_the_stig_rules(tmp_path: Path) -> None:
    stig = (sample_rules(Cache()) / STIG).read_text()
    text = NEVER + stig
    edited = [text.replace(old, new) for old, new in EDITS]
    edited.append(stig + NEVER)  # the rule of never moved
    edited.append(text + MISSING)  # a rule added about files that are not there
    original = rules(tmp_path, text)
    witnesses = []
    for number, one in enumerate(edited):
        assert one != text
        other = rules(tmp_path, one)
        result = prove_equal(original, other)
        assert result.equal is False
        assert result.difference is not None
        made = witness(result.difference, original, other, number)
        assert made is not None
        assert made.expected[0] != made.expected[1]
        witnesses.append(made)
    for said in run_witnesses(VirtualMachine(Cache(), Hardware("tcg")), witnesses):
        assert said.fits, said
        assert said.confirms, said

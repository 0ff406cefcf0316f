from __future__ import annotations

from auditrules.model.rule import Rule
from hardcost.mechanisms import apply
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.sysctl import Sysctl
from tests.protocol.json_messages import as_sent, typed

CONTROLS = (
    AuditDaemon(),
    AuditRule(Rule("-w /srv/x", watched_files=("/srv/x",))),
    Sysctl("kernel.x", "1"),
    BootParameter("quiet"),
)


def test_boot_parameters_are_for_the_boot() -> None:
    assert apply.boot_parameters(CONTROLS) == ("quiet",)


def test_audit_is_asked_for_last() -> None:
    assert [request["do"] for request in as_sent(apply.requests(CONTROLS))] == [
        "write",
        "make",
        "audit",
    ]


def test_notes_of_all_mechanisms_come_together() -> None:
    answers: list[dict[str, object]] = [
        {"event": "hello"},
        {"event": "written", "path": "/proc/sys/kernel/x", "before": None, "after": None},
        {"event": "audit", "exit": 0, "stdout": "", "stderr": "Warning - x\n", "loaded": 1},
    ]
    assert apply.verify(CONTROLS, typed(answers)) == (
        "kernel.x can't be read back: whether it took is not known",
        "auditctl warns: Warning - x",
    )


def test_a_setting_that_the_kernel_lacks_is_explained() -> None:
    error = apply.explain(CONTROLS, "/proc/sys/kernel/x: No such file or directory (os error 2)")
    assert error is not None
    assert error.exit_status == 2

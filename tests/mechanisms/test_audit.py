from __future__ import annotations

from typing import Any

import pytest

from auditrules.model.location import Location
from auditrules.model.rule import Rule
from hardcost.controls.control import Control
from hardcost.errors import InputError, TrialError
from hardcost.mechanisms.audit import AUDIT, AuditDaemon, AuditRule
from tests.protocol.json_messages import as_sent, typed


def rules(*texts: str) -> tuple[AuditRule, ...]:
    return tuple(AuditRule(Rule(text, Location("f", n))) for n, text in enumerate(texts, 10))


def answer(*stderr: str, loaded: int = 0, status: int | None = None) -> dict[str, Any]:
    refused = any("There was an error" in line for line in stderr)
    return {
        "event": "audit",
        "exit": int(refused) if status is None else status,
        "stdout": "",
        "stderr": "".join(f"{line}\n" for line in stderr),
        "loaded": loaded,
    }


def error_in(line: int) -> str:
    return f"There was an error in line {line} of /run/hardcost.rules"


class TestRequests:
    def test_options_come_before_rules_and_both_after_the_preamble(self) -> None:
        daemon = AuditDaemon(100, ("--loginuid-immutable",))
        (load,) = as_sent(
            AUDIT.requests((daemon, *rules("-a never,task", "-A never,exit -S open")))
        )
        assert load == {
            "do": "audit",
            "rules": "-c\n"
            "-a never,user -F pid=4194304\n"
            "-d never,user -F pid=4194304\n"
            "--loginuid-immutable\n"
            "-a never,task\n"
            "-A never,exit -S open\n",
            "backlog_limit": 100,
        }

    def test_a_daemon_without_rules_loads_nothing(self) -> None:
        assert as_sent(AUDIT.requests((AuditDaemon(),))) == (
            {"do": "audit", "rules": "", "backlog_limit": 8192},
        )

    def test_what_rules_watch_is_made_before_they_are_loaded(self) -> None:
        rule = Rule("-w /etc/a", watched_files=("/etc/a",), watched_directories=("/etc/b",))
        daemon = AuditDaemon(directories=("/etc/c",), files=("/etc/d",))
        made, load = as_sent(AUDIT.requests((daemon, AuditRule(rule))))
        assert made == {
            "do": "make",
            "directories": ["/etc/b", "/etc/c"],
            "files": ["/etc/a", "/etc/d"],
        }
        assert load["do"] == "audit"

    def test_without_audit_nothing_is_asked(self) -> None:
        assert as_sent(AUDIT.requests(())) == ()
        assert AUDIT.verify((), typed([])) == ()

    def test_rules_without_audit_are_the_users_error(self) -> None:
        with pytest.raises(InputError, match="audit is not switched on"):
            as_sent(AUDIT.requests(rules("-w /etc/a")))


class TestExplain:
    RULE = AuditRule(Rule("-w /etc/passwd/x", Location("f", 3), watched_files=("/etc/passwd/x",)))

    @pytest.mark.parametrize("path", ["/etc/passwd", "/etc/passwd/x"])
    def test_a_path_that_the_guest_cannot_have_is_the_users_error(self, path: str) -> None:
        message = f"the machine reports: {path}: Not a directory (os error 20)"
        error = AUDIT.explain((AuditDaemon(), self.RULE), message)
        assert error is not None
        (problem,) = error.problems
        assert problem.message == (
            "the machine can't have /etc/passwd/x, which the rule watches: Not a directory"
        )
        assert str(problem.place) == "f:3"

    @pytest.mark.parametrize("message", ["null: EPERM", "/etc/pass: No such file or directory"])
    def test_another_failure_is_not_explained(self, message: str) -> None:
        assert AUDIT.explain((AuditDaemon(), self.RULE), message) is None


class TestVerify:
    DAEMON = AuditDaemon(options=("--loginuid-immutable",))
    FIRST = 5  # the line of the first rule: three lines of preamble, and the option

    def controls(self, *texts: str, tolerant: bool = False) -> tuple[Control, ...]:
        return (AuditDaemon(options=self.DAEMON.options, tolerant=tolerant), *rules(*texts))

    def test_rules_that_are_all_loaded_are_silent(self) -> None:
        assert AUDIT.verify(self.controls("-w /a", "-w /b"), typed([answer(loaded=2)])) == ()

    # What auditctl 3.0.9 says, in a guest.
    @pytest.mark.parametrize(
        ("rule", "said", "hint"),
        [
            (
                "-a always,exit -F arch=b33 -S openat",
                "arch elf mapping not found",
                "write arch=b64 or arch=b32",
            ),
            (
                "-a always,exit -F arch=b64 -S openat -F aid=3",
                "-F unknown field: aid",
                "did you mean auid?",
            ),
            (
                "-a always,exit -F arch=b64 -S open,nosuch",
                "Syscall name unknown: nosuch",
                "`ausyscall --dump` lists the names; 32-bit and 64-bit ones differ",
            ),
            (
                "-a always,exit -F dir=/proc/nothing",
                "Error sending add rule data request (No such file or directory)",
                "check the path that the rule names",
            ),
            (
                "-w /a",
                "Error sending add rule data request (Rule exists)",
                "an earlier line says the same: leave this one out",
            ),
            ("-a always,exit", "something that no one has heard before", None),
        ],
    )
    def test_a_refused_rule_is_named_with_its_place_and_a_remedy(
        self, rule: str, said: str, hint: str | None
    ) -> None:
        complaint = answer(said, error_in(self.FIRST + 1), loaded=1)
        with pytest.raises(InputError) as caught:
            AUDIT.verify(self.controls("-w /b", rule), typed([complaint]))
        (problem,) = caught.value.problems
        assert problem.message == f"auditctl refuses `{rule}`: {said}"
        assert (str(problem.place), problem.hint) == ("f:11", hint)

    def test_advice_about_rules_that_are_taken_is_no_reason(self) -> None:
        advice = ("Old style watch rules are slower", "perm used without an arch is slower")
        complaint = answer(*advice, "Key field needs a watch", error_in(self.FIRST + 1), loaded=1)
        with pytest.raises(InputError, match=r"(?m)refuses `-w /c`: Key field needs a watch$"):
            AUDIT.verify(self.controls("-w /a", "-w /c"), typed([complaint]))

    def test_all_refused_rules_are_named_at_once(self) -> None:
        complaint = answer(
            "-F unknown field: x",
            error_in(self.FIRST),
            "WARNING - 32/64 bit syscall mismatch in line 6, you should specify an arch",
            error_in(self.FIRST + 2),
            loaded=1,
        )
        with pytest.raises(InputError) as caught:
            AUDIT.verify(self.controls("-w /a", "-w /b", "-w /c"), typed([complaint]))
        first, second = caught.value.problems
        assert (str(first.place), str(second.place)) == ("f:10", "f:12")
        assert second.message == "auditctl refuses `-w /c`: auditctl gives no reason"

    def test_a_refused_option_is_named(self) -> None:
        complaint = answer("Error setting feature (Operation not permitted)", error_in(4), loaded=1)
        with pytest.raises(InputError, match="refuses `--loginuid-immutable`: Error setting"):
            AUDIT.verify(self.controls("-w /a"), typed([complaint]))

    def test_where_the_files_ask_to_go_on_refusals_are_notes(self) -> None:
        complaint = answer(
            "Error sending add rule data request (Rule exists)", error_in(self.FIRST + 1), loaded=1
        )
        assert AUDIT.verify(self.controls("-w /a", "-w /a", tolerant=True), typed([complaint])) == (
            "f:11: auditctl refuses `-w /a`: Error sending add rule data request (Rule exists)",
        )

    def test_a_warning_is_a_note_at_its_rule(self) -> None:
        mismatch = "WARNING - 32/64 bit syscall mismatch in line 5, you should specify an arch"
        complaint = answer(
            mismatch,
            "Warning - wildcard notation is not supported",
            loaded=1,
        )
        assert AUDIT.verify(self.controls("-a always,exit -S open"), typed([complaint])) == (
            f"f:10: auditctl warns: {mismatch.replace('line 5', 'this line')}",
            "auditctl warns: Warning - wildcard notation is not supported",
        )

    @pytest.mark.parametrize("loaded", [0, 1, 3])
    def test_another_number_of_rules_is_a_failed_trial(self, loaded: int) -> None:
        with pytest.raises(TrialError, match=f"{loaded} of 2 audit rules are loaded"):
            AUDIT.verify(self.controls("-w /a", "-w /b"), typed([answer(loaded=loaded)]))

    def test_a_refused_preamble_is_a_failed_trial(self) -> None:
        complaint = answer("Error sending delete rule data request", error_in(3), loaded=2)
        with pytest.raises(TrialError, match="auditctl failed"):
            AUDIT.verify(self.controls("-w /a"), typed([complaint]))

    @pytest.mark.parametrize("status", [2, 127])
    def test_an_auditctl_that_ended_otherwise_is_a_failed_trial(self, status: int) -> None:
        with pytest.raises(TrialError, match=f"ended with {status} and said: no library"):
            AUDIT.verify(self.controls("-w /a"), typed([answer("no library", status=status)]))

    def test_an_auditctl_that_was_killed_is_a_failed_trial(self) -> None:
        killed = answer(loaded=1) | {"exit": None}
        with pytest.raises(TrialError, match="ended with None"):
            AUDIT.verify(self.controls("-w /a"), typed([killed]))

    def test_a_failure_without_a_refused_rule_is_a_failed_trial(self) -> None:
        with pytest.raises(TrialError, match="said: You must be root"):
            AUDIT.verify(self.controls(), typed([answer("You must be root", status=1)]))

    def test_no_answer_is_a_failed_trial(self) -> None:
        with pytest.raises(TrialError, match="'audit' 0 times"):
            AUDIT.verify(self.controls("-w /a"), typed([{"event": "hello"}]))

    def test_a_line_that_was_never_sent_is_a_failed_trial(self) -> None:
        complaint = answer("no", "There was an error in line 99 of /x", loaded=0, status=1)
        with pytest.raises(TrialError, match="auditctl failed"):
            AUDIT.verify(self.controls("-w /a"), typed([complaint]))

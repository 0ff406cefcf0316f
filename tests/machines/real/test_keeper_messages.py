"""What of a job a keeper has to do."""

from __future__ import annotations

import base64

from hardcost.machines.real.keeper_messages import Replace, UnitState, wanted_states
from hardcost.protocol.ask import mount, unit
from hardcost.protocol.requests import Audit, Install


def test_a_unit_gets_its_files_before_it_starts_and_the_rest_is_the_probes() -> None:
    quiet = unit("rsyslog.service", running=False, files={})
    own = unit("auditd.service", running=True, files={"/etc/audit/auditd.conf": "freq = 1\n"})
    rules, options = Audit(rules=""), mount("/srv", ["noexec"])
    program = Install(path="/usr/local/bin/command", mode=0o755, base64="")
    text = base64.b64encode(b"freq = 1\n").decode()
    assert wanted_states([quiet, program, own, options, rules]) == (
        UnitState(name="rsyslog.service", active=False),
        Replace(path="/etc/audit/auditd.conf", base64=text),
        UnitState(name="auditd.service", active=True),
        options,
        rules,
    )

"""The finding of a run, of whichever kind: every report is made from one."""

from __future__ import annotations

from hardcost.model.finding.bill import Bill, Bills
from hardcost.model.finding.calls import Calls
from hardcost.model.finding.choice import Advised
from hardcost.model.finding.study import StudyFinding
from hardcost.model.finding.trace import Traces

Finding = Bill | Bills | Advised | StudyFinding | Calls | Traces

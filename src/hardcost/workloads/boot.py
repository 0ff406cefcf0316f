"""The workload `boot`: the instructions that a guest executes until it is ready for work.

QEMU says the number of a guest that stands still then: firmware, kernel, and the probe, which is
the guest's first program. Sysctls, rules and a module's profiles come later, and add nothing to it.
"""

from __future__ import annotations

from collections.abc import Sequence

from hardcost.errors import InputError, TrialError
from hardcost.instruments.instrument import Instrument
from hardcost.protocol.answers import Answer, BootedAnswer, all_of
from hardcost.protocol.requests import Request
from hardcost.units import Unit
from hardcost.workloads.kind import WorkloadKind
from hardcost.workloads.metric import MetricSamples
from hardcost.workloads.parameters import WorkloadParameters


class Parameters(WorkloadParameters):
    """It has none."""

    def check(self, instrument: Instrument) -> None:
        """Refuse what does not count instructions.

        Raises:
            InputError: The instrument reads a clock.
        """
        if instrument.whole is not Unit.INSN:
            raise InputError(
                "boot counts the instructions of a guest's boot",
                hint="measure it by --instrument insn, on one processor",
            )


def requests(parameters: Parameters, instrument: Instrument) -> list[Request]:  # noqa: ARG001  (the interface's)
    """Return no request: all is over when the guest could take one."""
    return []


def read_metrics(
    parameters: Parameters,  # noqa: ARG001  (the interface's)
    answers: Sequence[Answer],
    instrument: Instrument,
) -> tuple[MetricSamples, ...]:
    """Return the one metric, `until-ready`.

    Raises:
        TrialError: The guest did not go on from a snapshot, or ran on a real machine.
    """
    found = all_of(answers, BootedAnswer)
    if not found:
        raise TrialError(
            "the instructions of a boot are not known of this guest",
            hint="they are known of guests that start from a snapshot: not with --start cold, a"
            " kernel that hardcost builds, or lockdown",
        )
    samples = (float(found[0].instructions),)
    return (MetricSamples(metric="until-ready", unit=instrument.whole, samples=samples),)


KIND = WorkloadKind(
    name="boot",
    title="a guest's boot: instructions until it is ready for work, firmware included",
    parameters=Parameters,
    audit_note="none of the cost is audit's: it begins behind the boot",
    guest="small",
    requests=requests,
    measured=read_metrics,
)

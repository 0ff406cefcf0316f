"""The verbs of the command `hardcost`, put together."""

from __future__ import annotations

import click

from hardcost.cli.lazy import LazyGroup

VERBS = {
    "bill": "hardcost.cli.bill:bill",
    "compare": "hardcost.cli.compare:compare",
    "doctor": "hardcost.cli.doctor:doctor",
    "image": "hardcost.cli.image:image",
    "import": "hardcost.cli.importing:import_",
    "kernel": "hardcost.cli.kernel:kernel",
    "list": "hardcost.cli.listing:list_",
    "report": "hardcost.cli.report:report",
    "rules": "hardcost.cli.rules.group:rules",
    "run": "hardcost.cli.run:run",
}
"""Where each verb is, by its name."""


@click.group(
    cls=LazyGroup,
    places=VERBS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="hardcost")
def hardcost() -> None:
    """Say what each Linux hardening setting costs, and which you can keep for nothing.

    \b
    Example:  hardcost bill /etc/audit/rules.d --workload syscalls

    Exit status: 0 done; 1 the answer is "no"; 2 bad usage or input; 3 a trial or machine failed;
    130 interrupted; 141 the reader of the output closed the pipe.
    """

"""The verbs of the command `hardcost`, put together."""

from __future__ import annotations

import click

from hardcost.cli import (
    bill,
    compare,
    doctor,
    image,
    importing,
    kernel,
    listing,
    report,
    run,
)
from hardcost.cli.rules.group import rules


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="hardcost")
def hardcost() -> None:
    """Say what each Linux hardening setting costs, and which you can keep for nothing.

    \b
    Example:  hardcost bill /etc/audit/rules.d --workload syscalls

    Exit status: 0 done; 1 the answer is "no"; 2 bad usage or input; 3 a trial or machine failed;
    130 interrupted.
    """


for verb in (run.run, bill.bill, report.report, compare.compare, listing.list_, doctor.doctor):
    hardcost.add_command(verb)
hardcost.add_command(image.image)
hardcost.add_command(kernel.kernel)
hardcost.add_command(importing.import_)
hardcost.add_command(rules)

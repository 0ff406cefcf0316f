"""The verbs of the command `hardcost`, put together."""

from __future__ import annotations

import os

import click

from hardcost.cli.lazy import LazyGroup

VERBS = {
    "advise": "hardcost.cli.commands.advise:advise",
    "bill": "hardcost.cli.commands.bill:bill",
    "cluster": "hardcost.cli.commands.cluster:cluster",
    "compare": "hardcost.cli.commands.compare:compare",
    "doctor": "hardcost.cli.commands.doctor:doctor",
    "export": "hardcost.cli.commands.exporting:export",
    "gate": "hardcost.cli.commands.gate:gate",
    "image": "hardcost.cli.commands.image:image",
    "import": "hardcost.cli.commands.importing:import_",
    "kernel": "hardcost.cli.commands.kernel:kernel",
    "list": "hardcost.cli.commands.listing:list_",
    "profile": "hardcost.cli.commands.profile:profile",
    "report": "hardcost.cli.commands.report:report",
    "restore": "hardcost.cli.commands.restore:restore",
    "rules": "hardcost.cli.commands.rules:rules",
    "run": "hardcost.cli.commands.run:run",
    "runs": "hardcost.cli.commands.runs:runs",
    "trace": "hardcost.cli.commands.trace:trace",
    "worker": "hardcost.cli.commands.worker:worker",
}
"""Where each verb is, by its name."""


def _debug(_context: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001  (click's)
    if value:
        os.environ["HARDCOST_DEBUG"] = "1"


@click.group(
    cls=LazyGroup,
    places=VERBS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(package_name="hardcost")
@click.option(
    "--debug",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_debug,
    help="If hardcost has a bug, print its traceback (as HARDCOST_DEBUG=1 does).",
)
def hardcost() -> None:
    """Say what each Linux hardening setting costs, and which you can keep for nothing.

    \b
    Examples:  hardcost doctor                                 can this machine measure?
               hardcost rules cost /etc/audit/rules.d          predict, within a second
               hardcost bill /etc/audit/rules.d                measure, in a virtual machine
               hardcost list profiles                          STIG, CIS, KSPP and others

    `hardcost COMMAND --help` explains each command and its options.

    To complete words with TAB in bash, run this line; zsh and fish have zsh_source and fish_source:

    \b
      eval "$(_HARDCOST_COMPLETE=bash_source hardcost)"

    Exit status: 0 done; 1 the answer is "no"; 2 bad usage or input; 3 a trial or machine failed;
    70 a bug in hardcost; 130 interrupted; 141 the reader of the output closed the pipe.
    """

"""`hardcost rules`, of which each verb has a file here."""

from __future__ import annotations

import click

from hardcost.cli.command import VerbGroup
from hardcost.cli.verbs.rules.cost import cost
from hardcost.cli.verbs.rules.explain import explain
from hardcost.cli.verbs.rules.lint import lint
from hardcost.cli.verbs.rules.optimize import optimize
from hardcost.cli.verbs.rules.prove import prove


@click.group(cls=VerbGroup, commands=[cost, explain, lint, optimize, prove])
def rules() -> None:
    """Check audit rules, predict their cost, compare two sets, and make them cheaper.

    RULES is a file of rules, or a folder of them such as /etc/audit/rules.d, read as augenrules
    does; - for standard input; a rule in quotes; a profile from `hardcost list profiles` or in
    TOML; FILE.xml:PROFILE for a profile of a SCAP datastream; or what a benchmark calls a control,
    such as RHEL-09-654010.

    \b
    Examples:  hardcost rules lint /etc/audit/rules.d
               hardcost rules cost '-w /etc/passwd -p wa'
               hardcost rules explain RHEL-09-654010 --event 'syscall=execve auid=1000 egid=0'
    """

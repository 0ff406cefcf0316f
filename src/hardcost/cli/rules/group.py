"""`hardcost rules`: what can be said of audit rules without loading them."""

from __future__ import annotations

import click

from hardcost.cli.lazy import LazyGroup

VERBS = {
    "cost": "hardcost.cli.rules.cost:cost",
    "explain": "hardcost.cli.rules.explain:explain",
    "lint": "hardcost.cli.rules.lint:lint",
    "optimize": "hardcost.cli.rules.optimize:optimize",
    "prove": "hardcost.cli.rules.prove:prove",
}
"""Where each verb is, by its name."""


@click.group(cls=LazyGroup, places=VERBS)
def rules() -> None:
    """Lint audit rules, say what they cost, prove them equal, make them cheaper.

    PATH is a file of rules, or a folder that is read as augenrules does.

    \b
    Example:  hardcost rules lint /etc/audit/rules.d
    """

"""`hardcost rules`: what can be said of audit rules without loading them."""

from __future__ import annotations

import click


@click.group()
def rules() -> None:
    """Lint audit rules, say what they cost, prove them equal, make them cheaper.

    PATH is a file of rules, or a folder that is read as augenrules does.

    \b
    Example:  hardcost rules lint /etc/audit/rules.d
    """

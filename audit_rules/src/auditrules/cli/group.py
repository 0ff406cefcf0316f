"""The group of all verbs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from auditrules.cli.cost import cost
from auditrules.cli.explain import explain
from auditrules.cli.lint import lint
from auditrules.cli.mount import Mounting
from auditrules.cli.optimize import optimize
from auditrules.cli.prove import prove

if TYPE_CHECKING:
    from auditrules.library.caller import Caller


def _caller() -> Caller:
    from auditrules.cli.terminal import Terminal

    return Terminal()


def _files(begun: str) -> list[CompletionItem]:
    """Leave names to the shell."""
    return [CompletionItem(begun, type="file")]


@click.group(
    commands=[cost, explain, lint, optimize, prove],
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "obj": Mounting(_caller, _files),
    },
)
def auditrules() -> None:
    """Check audit rules, predict their cost, compare two sets, and make them cheaper.

    RULES is a file of rules, or a folder of them such as /etc/audit/rules.d, read as augenrules
    does; - for standard input; or a rule in quotes. Nothing is loaded into a kernel.

    \b
    Examples:  auditrules lint /etc/audit/rules.d
               auditrules cost '-w /etc/passwd -p wa'
               auditrules prove old.rules new.rules

    Exit status: 0 done; 1 the answer is "no"; 2 bad usage or input; 3 a file can't be written, or
    no answer was found in time; 70 a bug; 130 interrupted.
    """

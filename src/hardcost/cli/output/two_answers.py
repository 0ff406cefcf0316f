"""Two answers of `hardcost here` side by side, shown."""

from __future__ import annotations

import sys

import click

from auditrules.cli.options import FORMATS
from hardcost.cli.console import console
from hardcost.errors import InputError
from hardcost.model.finding.here_comparison import HereComparison
from hardcost.show.exports.here_comparison import comparison_markdown
from hardcost.show.here_comparison import comparison_lines
from hardcost.show.json import to_json

_MARKDOWN = "markdown"


def show_answers(found: HereComparison, form: str) -> None:
    """Print what changed from one answer to another as `form` says.

    Raises:
        InputError: The form is one that rows of a run have.
    """
    if form not in {*FORMATS, _MARKDOWN}:
        raise InputError(
            f"two answers of `hardcost here` have no form {form}",
            hint=f"--format is one of {', '.join((*FORMATS, _MARKDOWN))}",
        )
    if form == "json":
        click.echo(to_json(found))
    elif form == _MARKDOWN:
        click.echo(comparison_markdown(found), nl=False)
    else:
        for indent, line in comparison_lines(found):
            console.print_wrapped(line, indent)
        sys.stdout.flush()  # before any note that follows on stderr

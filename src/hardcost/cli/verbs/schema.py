"""`hardcost schema`: what the JSON of the verbs holds."""

from __future__ import annotations

import click

from auditrules.cli.verb import Verb


@click.command(cls=Verb, context_settings={"ignore_unknown_options": True})  # --progress json
@click.argument("words", metavar="[VERB]", nargs=-1)
def schema(words: tuple[str, ...]) -> None:
    """Print the JSON Schema of what verbs print with --format json.

    It describes the documents of all verbs, or those of VERB, such as `bill` or `rules lint`, or
    the lines of `--progress json`.

    Findings, comparisons and gates, which `run`, `bill`, `advise`, `profile`, `trace`, `report`,
    `compare` and `gate` print, begin with their `version`, which grows when a key goes or changes
    its meaning, and their `kind`, such as `bill`. Keys may be added within a version. Plans of
    --dry-run and what other verbs print have neither.

    \b
    Examples:  hardcost schema > hardcost.schema.json
               hardcost schema bill
               hardcost schema rules lint
    """
    from hardcost.cli.output import documents

    print(documents.schema(" ".join(words)))

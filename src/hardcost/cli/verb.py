"""The click commands of verbs that may run on a cluster, whose options `--help` leaves out."""

from __future__ import annotations

from typing import Any

import click

from auditrules.cli.verb import RuleTaker, Verb, section_of

CLUSTER = "Cluster and TLS options"
"""The section that only `--help-all` shows."""


class ClusterVerb(Verb):
    """A command that has `--help-all` where `--help` leaves a section out."""

    def __init__(self, *args: Any, **words: Any) -> None:
        super().__init__(*args, **words)
        if any(section_of(one) == CLUSTER for one in self.params):
            self.params.append(_help_all())

    def shows(self, section: str, ctx: click.Context) -> bool:
        """Say whether the help has a section of options."""
        return section != CLUSTER or bool(ctx.meta.get(CLUSTER))


class ProfileTaker(RuleTaker, ClusterVerb):
    """Such a command whose arguments may be audit rules in quotes."""


def say_renamed(before: str, now: str) -> None:
    """Say on stderr that a verb or an option has another name now."""
    click.echo(f"note: {before} is now called {now}; the next release drops the old name", err=True)


def _help_all() -> click.Option:
    def show(context: click.Context, _option: click.Parameter, value: bool) -> None:  # noqa: FBT001  (click's)
        if value and not context.resilient_parsing:
            context.meta[CLUSTER] = True
            click.echo(context.get_help(), color=context.color)
            context.exit()

    return click.Option(
        ["--help-all"],
        is_flag=True,
        is_eager=True,
        expose_value=False,
        callback=show,
        help="Show also the options for clusters of hosts: --workers, --insecure and TLS.",
    )

"""Whether the file of a cheaper set records the same under each release of Linux that is known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hardcost.auditrules import parse
from hardcost.auditrules.loading import load_lines
from hardcost.auditrules.prove.prove import DEFAULT_SECONDS, prove
from hardcost.auditrules.tables.lookup import RELEASES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hardcost.auditrules.prove.relation import Relation, Result
    from hardcost.auditrules.rule import Reading
    from hardcost.auditrules.tables.lookup import Release
    from hardcost.auditrules.translate import Target


def proofs(
    content: str,
    parts: Sequence[Sequence[Reading]],
    target: Target,
    relation: Relation,
    seconds: float = DEFAULT_SECONDS,
) -> Mapping[Release, Result]:
    """Return whether a file records what the lines of `parts` record, by release.

    Each release puts its own calls into rules that name classes of calls, and counts its own calls
    to permissions.
    """
    written = parse.read_bytes(content.encode(errors="surrogateescape"), "")
    found: dict[Release, Result] = {}
    for release in RELEASES:
        under = replace(target, release=release)
        before, after = load_lines(parts, under).rules, load_lines([written], under).rules
        found[release] = prove(before, after, relation, seconds, release)
    return found

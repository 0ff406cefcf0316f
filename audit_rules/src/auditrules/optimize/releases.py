"""Whether the file of a cheaper set records the same under each release of Linux that is known."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace

from auditrules.auditctl.translate import Target
from auditrules.load.load import load_lines
from auditrules.model.rule import Reading
from auditrules.prove.prove import DEFAULT_SECONDS, prove_equal
from auditrules.prove.relation import Relation, Result
from auditrules.read import parse
from auditrules.tables.lookup import RELEASES, Release


def proofs(  # noqa: PLR0913, PLR0917  (what is asked, and what is known)
    content: str,
    parts: Sequence[Sequence[Reading]],
    target: Target,
    relation: Relation,
    seconds: float = DEFAULT_SECONDS,
    agreed: set[Hashable] | None = None,
) -> Mapping[Release, Result]:
    """Return whether a file records the same as the lines of `parts`, by release.

    Each release puts its own calls into rules that name classes of calls, and counts its own calls
    to permissions. `agreed` is that of `prove_equal`.
    """
    written = parse.read_bytes(content.encode(errors="surrogateescape"), "")
    found: dict[Release, Result] = {}
    for release in RELEASES:
        under = replace(target, release=release)
        before, after = load_lines(parts, under).rules, load_lines([written], under).rules
        found[release] = prove_equal(before, after, relation, seconds, release, agreed)
    return found

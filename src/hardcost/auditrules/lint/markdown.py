"""The page that lists all findings, generated from their files."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.auditrules.lint.checks import documentations

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hardcost.auditrules.lint.diagnostic import Documentation

_INTRODUCTION = """\
# What `hardcost rules lint` finds

This page is made of the findings' own files (`src/hardcost/auditrules/lint/findings/`) by
`scripts/lint-page`. `hardcost rules lint --explain CODE` prints one of them.

An error keeps rules from loading, and makes the exit status 1. A warning is most likely not what
was meant. A note is about cost, or about what may well be meant.

`hardcost rules lint --fix` repairs what is certain of `duplicate-rule`, `cannot-load` and
`costly-order`: it removes the repeated line, writes the one name that is one slip away, puts `arch`
before -S, and cheap conditions first where no typical call becomes dearer. What loads today is
proved to record the same. In a set that loads past its faulty lines (-i, -c) these stay.

Costs are predictions: instructions of the kernel for one system call, out of what the steps of the
audit filter were measured to take on Debian's kernel. They are work, not time.
"""


def page() -> str:
    """Return the page, in Markdown."""
    found = documentations()
    table = ["| finding | level | |", "| --- | --- | --- |"]
    table += [f"| [{one.code}](#{one.code}) | {one.level} | {one.title} |" for one in found]
    parts = [_INTRODUCTION, "\n".join(table), *("\n".join(_part(one)) for one in found)]
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def _part(one: Documentation) -> Iterator[str]:
    said = one.sections
    yield f"## {one.code}"
    yield ""
    yield f"{one.title} ({one.level})."
    for name in ("What", "Why"):
        yield ""
        yield f"**{name}.** {said[name]}"
    yield ""
    yield "```"
    yield said["Example"]
    yield "```"
    yield ""
    yield f"**Remedy.** {said['Remedy']}"

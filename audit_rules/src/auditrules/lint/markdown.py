"""The page that lists all findings, generated from their files."""

from __future__ import annotations

from collections.abc import Iterator

from auditrules.lint.check import Documentation
from auditrules.lint.checks import documentations

_INTRODUCTION = """\
# What `hardcost rules lint` finds

This page is made of the findings' own files (`audit_rules/src/auditrules/lint/findings/`) by
`scripts/lint-page`. `hardcost rules lint --explain CODE` prints one of them.

An error keeps rules from loading. A warning is most likely not what was meant. A note is about
cost, or about what may well be meant. The exit status is 1 if there is an error; with
`--fail-on warning` also if there is a warning. No format changes it.

## Leaving findings out

A comment on the line above a rule leaves findings out; words behind the codes are the reason:

```
# hardcost: ignore=auid-not-tested,every-call the vendor's rule, agreed with the SOC
-a always,exit -F dir=/srv -F perm=wa -k srv
```

auditctl takes no comment behind a rule. Further comments may stand between the two lines, but no
empty line. A finding about several lines is left out at its first. `--ignore CODES` leaves out
codes everywhere; a finding about a whole file has no line, and can only be left out so.

`--generate-ignore` writes such a comment above each line that has findings today, so that only new
ones fail. It writes the files in place; `--select` and `--ignore` choose the codes.

## Repairs

A repair is *safe* if the prover showed that the same is recorded after it, else *unsafe*. `--fix`
makes the safe ones: it removes a repeated line (`duplicate-rule`), and puts cheap conditions first
where no typical call costs more (`costly-order`). `--unsafe-fixes` makes the others, too: it
writes the one name that is one slip away and puts `arch` before -S (`cannot-load`). Such a line
could not be loaded, so it records more than before. What loads today is proved to record the same,
and in a set that loads past its faulty lines (-i, -c) these stay. A repair that is not proved in
time is unsafe; one that is refuted is not made.

## In CI

`--sarif-file lint.sarif` writes SARIF 2.1.0 beside the usual text. It has every code, also those
without a finding, so that a code host closes alerts that are solved; a fingerprint for each finding
that stays when lines move; and the repairs, each with its `safety`. In a job on GitHub
(`GITHUB_ACTIONS=true`) every finding also becomes an annotation, and no line from a rule is taken
for a command.

For [pre-commit](https://pre-commit.com), hardcost's repository has the hook `hardcost-lint`. It
runs the `hardcost` that is installed, for files whose path contains `audit` and ends in `.rules`;
`files` chooses others. To check a folder as one set, as augenrules loads it, give its name:

```yaml
- id: hardcost-lint
  args: [--fail-on, warning, rules.d]
  pass_filenames: false
```

## Codes

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
    yield f"### {one.code}"
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

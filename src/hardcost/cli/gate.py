"""`hardcost gate`: what a change costs, by line, and whether that is within limits."""

from __future__ import annotations

import json
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hardcost.analysis.budget import Budget
from hardcost.analysis.growth import limited
from hardcost.cli import gatepredicted, githubjob, percentages
from hardcost.cli.commands.gate import FORMATS
from hardcost.cli.console import as_text, note, show
from hardcost.cli.gatesides import Results, sides
from hardcost.cli.lazy import imported
from hardcost.errors import InputError
from hardcost.files import check_put, put
from hardcost.report.comparedgrowth import gate_of
from hardcost.report.exports.annotations import github, gitlab
from hardcost.report.exports.gatejson import gate_json
from hardcost.report.exports.gatemarkdown import gate_markdown
from hardcost.report.exports.gatesarif import gate_sarif
from hardcost.report.exports.junit import junit
from hardcost.report.tables.gate_table import gate_table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hardcost.analysis.growth import Gate

_ANY = "any"


def gate(  # noqa: PLR0913  (click's options)
    states: tuple[str, ...],
    *,
    limits: tuple[str, ...],
    git: str | None,
    predict: bool,
    written: tuple[str, ...],
    sarif_file: Path | None,
    fail_on: str,
    most_lines: int,
    **words: Any,  # noqa: ANN401  (click's options)
) -> None:
    """Compare BASE and HEAD, print what grew, and end with status 1 if that is too much."""
    allowed = _limits(limits)
    files = [(*_file(one), "--write") for one in written]
    files += [] if sarif_file is None else [("sarif", sarif_file, "--sarif-file")]
    for _, path, option in files:
        check_put(path, option)
    both = sides(states, git, words["store"])
    if isinstance(both, Results):
        if predict:
            raise InputError("--predict is for profiles of audit rules, and these are results")
        found = gate_of(both.base, both.head, both.names)
    elif predict:
        found = gatepredicted.gate_of(both, words["kernel"], words["cpu"])
    else:
        gate_of_trials = imported("hardcost.cli.gatemeasured:gate_of")  # it takes long to import
        measured: Gate | None = gate_of_trials(both, words, most_lines)
        if measured is None:
            return  # --dry-run
        found = measured
    found = replace(limited(found, allowed), strict=fail_on == "warning")
    for form, path, option in files:  # also where nobody reads what is printed
        _write(path, _text(found, form), option)
    _show(found, words["format"])
    if found.failed:
        raise click.exceptions.Exit(1)


def _limits(texts: Sequence[str]) -> Budget:
    """Return the limits in texts such as `open<=5%` and `any<=10%`.

    Raises:
        InputError: One is no limit, or a metric has two.
    """
    found: dict[str, float] = {}
    for text in texts:
        one = percentages.budget(text, "--max")
        if one.others is not None:
            raise InputError(f"--max: '{text}' names no metric", hint="such as 'any<=10%'")
        for metric, share in one.metrics.items():
            if metric in found:
                raise InputError(f"--max: '{metric}' has two limits", hint="such as 'open<=5%'")
            found[metric] = share
    others = found.pop(_ANY, None)
    return Budget(others, found)


def _file(text: str) -> tuple[str, Path]:
    """Return the format and the file that `FORMAT=FILE` names.

    Raises:
        InputError: There is no such format, or no file.
    """
    form, _, name = text.partition("=")
    if form not in FORMATS or not name:
        raise InputError(
            f"--write: '{text}' is not FORMAT=FILE", hint=f"the formats are {', '.join(FORMATS)}"
        )
    return form, Path(name)


_FORMS: dict[str, Callable[[Gate], str]] = {
    "json": gate_json,
    "junit": junit,
    "sarif": lambda found: json.dumps(gate_sarif(found, version("hardcost")), indent=2),
    "github": github,
    "gitlab": gitlab,
    "markdown": gate_markdown,
}


def _show(found: Gate, form: str) -> None:
    if form != "text":
        print(_text(found, form).removesuffix("\n"))
    elif githubjob.here():
        print(githubjob.harmless(as_text(gate_table(found))))
    else:
        show(gate_table(found))
    if githubjob.here() and form != "github":
        click.echo(github(found), err=form != "text")


def _text(found: Gate, form: str) -> str:
    """Return the result in a format, as a file holds it."""
    return as_text(gate_table(found)) if form == "text" else _FORMS[form](found)


def _write(path: Path, text: str, option: str) -> None:
    """Write a result to a file.

    Raises:
        StoreError: It can't be written.
    """
    whole = text if text.endswith("\n") else f"{text}\n"
    put(path, whole.encode(), "the result", f"{option} names the file")
    note(f"written: {path}")

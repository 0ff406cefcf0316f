"""Templates filled in, all names escaped; and what their tables hold."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

from jinja2 import Environment, PackageLoader, StrictUndefined

from hardcost.show.page.script import Script, script_of


@dataclass(frozen=True)
class AmountCell:
    """A number of a table: its text, its value for sorting, and the length (0 to 1) of its bar."""

    text: str
    value: float | None = None
    bar: float = 0.0


def rendered(template: str, **values: object) -> str:
    """Return a page made of a template."""
    return _environment().get_template(f"{template}.html.j2").render(script=_script(), **values)


@cache
def _script() -> Script:
    return script_of((resources.files("hardcost.show.site") / "tables.js").read_text("utf-8"))


@cache
def _environment() -> Environment:
    return Environment(
        loader=PackageLoader("hardcost.show.site"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )

"""`hardcost list kernel-options`: kernel configurations side by side, published ones among them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table

from hardcost.cli.console import show
from hardcost.machines import kernelconfig
from hardcost.profiles.kernel.kerneltable import Column, Row, rows
from hardcost.report.published import published
from hardcost.report.text import visible

if TYPE_CHECKING:
    from collections.abc import Sequence

_PUBLISHED = "cis-audit-2019"
_PREFIX = "CONFIG_"
_UNKNOWN = ""  # what a source that tells of some options only says of another
_LEGEND = (
    "≠: known values differ. unset: named and not set; absent: not named, since that kernel has no"
    " such option or what it depends on is unset; empty: the source does not say. recommended: by"
    " the catalogue of kernel hardening."
)


def present(files: Sequence[Path], format: str, *, differing: bool) -> None:  # noqa: A002
    """Print the options of the kernel configurations in `files` beside the published ones.

    Raises:
        InputError: A file can't be read, or is no kernel configuration.
    """
    read = [
        Column(str(file), kernelconfig.read(kernelconfig.file_text(file), str(file)))
        for file in dict.fromkeys(files)
    ]
    columns = [*read, *_published()]
    found = [row for row in rows(columns) if row.differs or not differing]
    if format == "json":
        print(json.dumps(_data(columns, found), indent=2))
        return
    notes = [f"{row.option}: {row.note}." for row in found if row.note]
    show(_table(columns, found), "\n".join([_LEGEND, *notes]))


def _published() -> list[Column]:
    source = dict(published(_PUBLISHED).kernel_config)
    names = source.pop("columns")
    return [
        Column(
            f"{name} (published)",
            {
                option.removeprefix(_PREFIX): _value(values[place])
                for option, values in source.items()
            },
            published=True,
        )
        for place, name in enumerate(names)
    ]


def _value(text: str) -> str:
    return kernelconfig.NOT_SET if text == "unset" else text


def _table(columns: Sequence[Column], found: Sequence[Row]) -> Table:
    table = Table(title="kernel options by configuration", title_justify="left")
    table.add_column("option", no_wrap=True)
    for name in _short([column.name for column in columns]):
        table.add_column(visible(name), overflow="fold")
    table.add_column("recommended", overflow="fold")
    table.add_column("")
    group = ""
    for row in found:
        if row.group != group:
            group = row.group
            table.add_section()
            table.add_row(f"[bold]{group}[/bold]")
        values = [visible(_UNKNOWN if value is None else value) for value in row.values]
        mark = "≠" if row.differs else ""
        table.add_row(row.option, *values, visible(row.recommended or ""), mark)
    return table


def _short(names: Sequence[str]) -> list[str]:
    """Return the names of files without their folders, where that still tells them apart."""
    short = [Path(name).name for name in names]
    return short if len(set(short)) == len(names) else list(names)


def _data(columns: Sequence[Column], found: Sequence[Row]) -> dict[str, object]:
    return {
        "columns": [{"name": column.name, "published": column.published} for column in columns],
        "source": published(_PUBLISHED).source,
        "options": [
            {
                "group": row.group,
                "option": row.option,
                "values": list(row.values),
                "recommended": row.recommended,
                "differs": row.differs,
                "note": row.note,
            }
            for row in found
        ],
    }

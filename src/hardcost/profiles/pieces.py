"""A profile's own TOML file in pieces, so that any part of its controls is a file too.

The texts of the pieces that are wanted, joined, are a profile that `catalogue.load` reads. So
whoever chooses among the controls has nothing to write in TOML itself.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import tomli_w

from hardcost.controls import watchedpaths
from hardcost.controls.control import (
    Auditd,
    AuditDaemon,
    AuditPlugin,
    AuditRule,
    BootParameter,
    Kernel,
    KernelOption,
    Lsm,
    MountOptions,
    Sysctl,
)
from hardcost.profiles.profiletoml import anywhere, service

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Sequence

    from hardcost.controls.control import Control, Profile

Kind = TypeVar(
    "Kind",
    AuditDaemon,
    AuditRule,
    AuditPlugin,
    BootParameter,
    Kernel,
    KernelOption,
    MountOptions,
    Sysctl,
)


class Piece(NamedTuple):
    """A text that is wanted if one of the named controls is, or always if there are no names."""

    text: str
    controls: tuple[str, ...] = ()


def pieces(profile: Profile) -> tuple[Piece, ...]:
    """Return a profile's file in pieces, in order.

    What a bill's baseline has, which is the kernel to build and audit's daemon, is always wanted.
    A kernel option that does not hold on its base is refused when such a file is read, even where
    the catalogue brought it.
    """
    controls = profile.controls
    return (
        *_head(profile),
        *_array("kconfig", controls, KernelOption, lambda one: one.name),
        *_array("boot", controls, BootParameter, lambda one: one.text),
        *(Piece(_lines(lsm=one.mode), (one.name,)) for one in controls if isinstance(one, Lsm)),
        *_audit(controls),
        *_table("sysctl", [(one.name, one.key, one.value) for one in _of(controls, Sysctl)]),
        *_table(
            "mount",
            [(one.name, one.path, list(one.options)) for one in _of(controls, MountOptions)],
        ),
        *_services(controls),
        *_table("ids", [(one.name, one.name, list(one.ids)) for one in controls if one.ids]),
        *_table(
            "severity", [(one.name, one.name, one.severity) for one in controls if one.severity]
        ),
    )


def joined(parts: Iterable[Piece], wanted: Collection[str]) -> str:
    """Return the file of the `wanted` controls, given by their names."""
    return "".join(
        text for text, names in parts if not names or any(name in wanted for name in names)
    )


def _head(profile: Profile) -> Iterator[Piece]:
    title = profile.title or profile.name
    yield Piece(_lines(title=f"A choice of: {title}", source=profile.source or profile.name))
    for one in _of(profile.controls, Kernel):
        yield Piece(_lines(kernel=anywhere(one.base)))
        if one.patches:
            yield Piece(_lines(**{"kernel-patches": list(map(anywhere, one.patches))}))
        if one.tolerant:
            yield Piece(_lines(**{"kconfig-tolerant": True}))


def _audit(controls: Sequence[Control]) -> Iterator[Piece]:
    rules = _of(controls, AuditRule)
    for daemon in _of(controls, AuditDaemon):
        own = [*daemon.options, *["-i"] * daemon.tolerant]
        yield Piece(f"\n[audit]\nbacklog_limit = {daemon.backlog_limit}\n")
        made = watchedpaths.paths([one.rule for one in rules], daemon.directories, daemon.files)
        exist = watchedpaths.as_written(*made)
        yield Piece(_lines(exist=exist) if exist else "")
        yield Piece("rules = [\n")
        yield from (Piece(f"    {_value(line)},\n") for line in own)
        yield from (Piece(f"    {_value(one.rule.text)},\n", (one.name,)) for one in rules)
        yield Piece("]\n")


def _services(controls: Sequence[Control]) -> Iterator[Piece]:
    plugins = _of(controls, AuditPlugin)
    for one in controls:
        if isinstance(one, Auditd):
            yield Piece("\n[auditd]\n" + _lines(flush=one.flush, freq=one.freq), (one.name,))
            yield from _array("plugins", plugins, AuditPlugin, lambda plugin: plugin.plugin)
            if one.settings:
                yield Piece("\n[auditd.settings]\n" + _lines(**dict(one.settings)), (one.name,))
        else:
            table = service(one)
            if table:
                yield Piece("\n" + tomli_w.dumps(table), (one.name,))


def _array(
    key: str, controls: Sequence[Control], kind: type[Kind], text: Callable[[Kind], str]
) -> Iterator[Piece]:
    """Yield an array with an element for each control of a kind."""
    found = _of(controls, kind)
    names = tuple(one.name for one in found)
    if names:
        yield Piece(f"{key} = [\n", names)
        yield from (Piece(f"    {_value(text(one))},\n", (one.name,)) for one in found)
        yield Piece("]\n", names)


def _table(key: str, entries: Sequence[tuple[str, str, str | list[str]]]) -> Iterator[Piece]:
    """Yield a table with an entry for each control: its name, its key and its value."""
    names = tuple(name for name, *_ in entries)
    if names:
        yield Piece(f"\n[{key}]\n", names)
        yield from (Piece(_lines(**{inner: value}), (name,)) for name, inner, value in entries)


def _of(controls: Iterable[Control], kind: type[Kind]) -> list[Kind]:
    return [one for one in controls if isinstance(one, kind)]


def _lines(**values: Any) -> str:  # noqa: ANN401  (TOML's values)
    return tomli_w.dumps(values)


def _value(text: str) -> str:
    """Return a string as TOML writes it."""
    return _lines(text=text).removeprefix("text = ").rstrip("\n")

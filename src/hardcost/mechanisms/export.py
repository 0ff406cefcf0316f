"""Files of other programs that hold controls, such as rules.d, sysctl.d and kernel options.

What is written of each control is read back; a control that a form can't express, or that would
come back as another, is left out and named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from hardcost.controls.control import Control, OneKind, Profile

Left = tuple[str, str]
"""The name of a control that is left out, and why."""


@dataclass(frozen=True)
class Exported:
    """A file's text, how many controls it has, and the controls that it has not, with why.

    `what` names the kind of control that it is for. `settings` is the second file of audit rules,
    which has to be read last.
    """

    text: str
    controls: int
    left: tuple[Left, ...]
    what: str
    settings: str = ""

    def files(self, name: str) -> dict[str, str]:
        """Return the files for /etc/audit/rules.d, by their names, which have `name` in them."""
        return {f"50-{name}.rules": self.text, f"zz-{name}.rules": self.settings}


def lines(
    controls: Iterable[Control],
    kind: type[OneKind],
    written: Callable[[OneKind], str | None],
    *,
    other: str,
    unfit: str = "it would be read back as another",
) -> tuple[list[str], list[Left]]:
    """Return the lines of the controls of a kind, and the controls that have none, with why.

    `written` is a control's line; None if the form can't hold it so that it comes back as it is.
    """
    found: list[str] = []
    left: list[Left] = []
    for control in controls:
        if not isinstance(control, kind):
            left.append((control.name, other))
        elif (line := written(control)) is None:
            left.append((control.name, unfit))
        else:
            found.append(line)
    return found, left


def with_comments(
    profile: Profile, body: Iterable[str], done: int, left: Sequence[Left], what: str
) -> Exported:
    """Return a file that begins with comments on its content, and on the controls that it lacks.

    The profile's remarks on controls that it has are among them.
    """
    has = {one.name for one in profile.controls} - {name for name, _ in left}
    said = [f"The {what} of the profile {profile.name}."]
    said += [f"{name}: {remark}" for name, remark in profile.remarks if name in has]
    said += [f"Not in this file: {name} ({why})" for name, why in left]
    text = "\n".join([*(f"# {on_one_line(one)}" for one in said), *body]) + "\n"
    return Exported(text, done, tuple(left), what)


def on_one_line(text: str) -> str:
    """Return text on one line, without anything that could end a comment or act on a terminal."""
    return text if text.isprintable() else ascii(text)

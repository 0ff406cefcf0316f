"""Profiles in the forms that systems apply: rules.d, sysctl.d, boot parameters, kernel options.

What is written of each control is read back here; a control that a form can't express, or that
would come back as another, is left out and named.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from hardcost.auditrules import parse
from hardcost.auditrules.rule import Place as RulePlace
from hardcost.auditrules.rule import RulesError, RuleSet
from hardcost.controls.control import (
    AuditDaemon,
    AuditRule,
    BootParameter,
    KernelOption,
    Sysctl,
)
from hardcost.errors import InputError
from hardcost.profiles.importers import sysctld

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from hardcost.controls.control import Control, Profile

Form = Literal["grub", "bootc", "plain"]
"""How boot parameters are written: a file of grub.d, bootc's kargs.d, or a line of words."""

_GRUB = re.compile(r"[A-Za-z0-9_.,:=/+@%^~!-]+")
"""The words that neither a shell nor GRUB's own language reads as anything else."""

_NOT_SET = "n"
_SOURCE = "exported"


@dataclass(frozen=True)
class Exported:
    """A file's text, how many controls it has, and the controls that it has not, with why.

    `what` names the kind of control that it is for. `settings` is the second file of audit rules,
    which has to be read last.
    """

    text: str
    controls: int
    left: tuple[tuple[str, str], ...]
    what: str
    settings: str = ""

    def files(self, name: str) -> dict[str, str]:
        """Return the files for /etc/audit/rules.d, by their names, which have `name` in them."""
        return {f"50-{name}.rules": self.text, f"zz-{name}.rules": self.settings}

    def required(self, profile: Profile) -> Exported:
        """Return it.

        Raises:
            InputError: It has nothing.
        """
        if not self.controls:
            raise InputError(
                f"the profile {profile.name} has no {self.what} that can be exported",
                hint=_exports(profile.controls),
            )
        return self


def _exports(controls: Sequence[Control]) -> str:
    """Say which exports can write some of the controls."""
    verbs = {
        "augenrules": AuditRule,
        "sysctl": Sysctl,
        "cmdline": BootParameter,
        "kconfig": KernelOption,
    }
    found = [name for name, kind in verbs.items() if any(isinstance(c, kind) for c in controls)]
    return (
        " and ".join(f"`hardcost export {name}`" for name in (*found, "ansible")) + " can write it"
    )


def augenrules(profile: Profile) -> Exported:
    """Return a profile's audit rules and settings as files for /etc/audit/rules.d.

    Of settings the last holds, and Debian's own `audit.rules` has some: so these get a file that
    comes after it. `-i` holds for the lines below it only, so it stands with the rules.
    """
    lines = ["-D"]
    settings: list[str] = []
    done = 0
    left: list[tuple[str, str]] = []
    for control in profile.controls:
        if isinstance(control, AuditDaemon):
            own = ["-i"] * control.tolerant
            lasting = [f"-b {control.backlog_limit}", *control.options]
            back = _read_rules([*own, *lasting])
            wanted = (control.backlog_limit, control.options, control.tolerant)
            if back is None or (back.backlog_limit, back.options, back.tolerant) != wanted:
                left.append((control.name, "its settings would be read back as others"))
                continue
            settings += lasting
        elif isinstance(control, AuditRule):
            own = [control.rule.text]
            back = _read_rules(own)
            if back is None or [one.text for one in back.rules] != own:
                left.append((control.name, "the line would be read back as another"))
                continue
        else:
            left.append((control.name, "it is no audit rule"))
            continue
        lines += own
        done += 1
    made = _exported(profile, lines, done, left, "audit rules")
    head = f"# {shown(f'The audit settings of the profile {profile.name}.')}"
    return replace(made, settings="\n".join([head, *settings]) + "\n")


def sysctl(profile: Profile) -> Exported:
    """Return a profile's sysctls as a file for /etc/sysctl.d."""

    def written(control: Control) -> str | None:
        return f"{control.key} = {control.value}" if isinstance(control, Sysctl) else None

    def same(line: str, control: Control) -> bool:
        if line.startswith(("-", "#", ";")) or "\n" in line or "\r" in line:
            return False
        try:
            return sysctld.template_of(line) is None and sysctld.assignment(line) == control
        except InputError:
            return False

    lines, left = _each(profile, written, same, "it is no sysctl")
    return _exported(profile, lines, len(lines), left, "sysctls")


def cmdline(profile: Profile, form: Form = "plain") -> Exported:
    """Return a profile's boot parameters as a file of GRUB's, of bootc's, or as a line of words."""

    def written(control: Control) -> str | None:
        return control.text if isinstance(control, BootParameter) else None

    def same(word: str, _: Control) -> bool:
        try:
            BootParameter(word).word  # noqa: B018  (it checks)
        except ValueError:
            return False
        return form != "grub" or _GRUB.fullmatch(word) is not None

    why = "it is no boot parameter"
    words, left = _each(profile, written, same, why, "this form can't hold its characters")
    if form == "grub":
        lines = [f'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {" ".join(words)}"']
    elif form == "bootc":
        lines = [f"kargs = [{', '.join(json.dumps(word) for word in words)}]"]
    else:
        return _exported(
            profile, [" ".join(words)], len(words), left, "boot parameters", head=False
        )
    return _exported(profile, lines, len(words), left, "boot parameters")


def kconfig(profile: Profile) -> Exported:
    """Return a profile's kernel options as a fragment of a kernel configuration."""

    def written(control: Control) -> str | None:
        if not isinstance(control, KernelOption):
            return None
        if control.value == _NOT_SET:
            return f"# CONFIG_{control.option} is not set"
        bare = re.fullmatch(r"[ym]|-?\d+|0[xX][0-9A-Fa-f]+", control.value)
        value = control.value if bare else f'"{control.value}"'
        return f"CONFIG_{control.option}={value}"

    def same(line: str, control: Control) -> bool:
        unset = re.fullmatch(r"# CONFIG_(\w+) is not set", line)
        text = f"{unset[1]}={_NOT_SET}" if unset else line
        try:
            return KernelOption.of(text) == control
        except ValueError:
            return False

    lines, left = _each(profile, written, same, "it is no kernel option")
    return _exported(profile, lines, len(lines), left, "kernel options")


def _each(
    profile: Profile,
    written: Callable[[Control], str | None],
    same: Callable[[str, Control], bool],
    other: str,
    unfit: str = "it would be read back as another",
) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the lines of the controls that come back as they are, and the others with why."""
    lines: list[str] = []
    left: list[tuple[str, str]] = []
    for control in profile.controls:
        line = written(control)
        if line is None:
            left.append((control.name, other))
        elif same(line, control):
            lines.append(line)
        else:
            left.append((control.name, unfit))
    return lines, left


def _exported(  # noqa: PLR0913  (the parts of a file)
    profile: Profile,
    lines: Iterable[str],
    done: int,
    left: Iterable[tuple[str, str]],
    what: str,
    *,
    head: bool = True,
) -> Exported:
    """Return a file that begins with what it has and what it lacks."""
    lacking = tuple(left)
    said = [f"The {what} of the profile {profile.name}."] if head else []
    if head:
        said += [f"Not in this file: {name} ({why})" for name, why in lacking]
    comments = [f"# {shown(one)}" for one in said]
    return Exported("\n".join([*comments, *lines]) + "\n", done, lacking, what)


def _read_rules(lines: Iterable[str]) -> RuleSet | None:
    """Return what lines of audit rules say; None if they are not one line each, or say nothing."""
    texts = list(lines)
    if any("\n" in text or not text.isprintable() for text in texts):
        return None
    data = "".join(f"{text}\n" for text in texts)
    try:
        read = parse.read_bytes(data.encode(), _SOURCE)
        found = parse.read_lines(
            (one.raw, RulePlace(_SOURCE, at)) for at, one in enumerate(read, 1)
        )
    except (RulesError, UnicodeEncodeError):
        return None
    return found


def shown(text: str) -> str:
    """Return text on one line, without anything that could end a comment or act on a terminal."""
    return text if text.isprintable() else ascii(text)

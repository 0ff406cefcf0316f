"""Boot parameters: words on the kernel's command line, fixed before a machine starts."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import BaseModel

from hardcost.controls.blind_spots import blind_spot_of
from hardcost.controls.control import Control, PlaceboKind, Profile, Rank, of_kind
from hardcost.controls.reach import Reach, reach
from hardcost.errors import InputError, Problem
from hardcost.mechanisms.ansible import Outside, TaskGroup
from hardcost.mechanisms.export import Exported, Left, lines, with_comments
from hardcost.mechanisms.mechanism import TABLE, Mechanism, TableSource
from hardcost.toml.write import TomlEntry

if TYPE_CHECKING:
    from hardcost.protocol.boot import WordVerdict

AUDIT_OFF = "audit=0"
AUDIT_ON = "audit=1"

_OWN = "hardcost."

PLACEBO_WORD = f"{_OWN}placebo="
"""The prefix of boot words that change nothing but the command line itself."""

LoaderForm = Literal["grub", "bootc", "plain"]
"""How boot parameters are written: a file of grub.d, bootc's kargs.d, or a line of words."""

_WORD = re.compile(r"(?:[!#-~]|\"[ !#-~]*\")+")
_GRUB = re.compile(r"[A-Za-z0-9_.,:=/+@%^~!-]+")
"""The words that neither a shell nor GRUB's own language reads as anything else."""

_INITS = ("init_on_alloc=1", "init_on_free=1")
_POISON = "page_poison=1"
_SLUB = re.compile(r"sl[ua]b_debug(?:=(?P<blocks>.*))?")
_LAST_ACTS = ("slub_debug", "slab_debug", "init_on_alloc", "init_on_free", "page_poison")
"""Boot parameters of which the kernel takes the last, if there are several."""
_ON = re.compile(r"1|y|yes|on|true", re.IGNORECASE)
_OFF = re.compile(r"0|n|no|off|false", re.IGNORECASE)


@dataclass(frozen=True)
class BootParameter(Control):
    """A word on the kernel's command line."""

    text: str

    mechanism: ClassVar[str] = "boot"
    like: ClassVar[PlaceboKind] = "boot"
    rank: ClassVar[Rank] = Rank.BOOT
    noun: ClassVar[str] = "boot parameter"
    boots: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return self.text

    @property
    def slot(self) -> str:
        """Return the word: what a table repeats is on the command line once."""
        return f"boot {self.text}"

    def after(self, before: Control) -> Control:
        """Return the first of two equal words."""
        return before

    @property
    def word(self) -> str:
        """Return the checked text.

        Raises:
            ValueError: It is not one word of ASCII; double quotes keep spaces.
        """
        if not _WORD.fullmatch(self.text):
            raise ValueError(f"{self.text!r} is not one word of a kernel's command line")
        if self.text == "--":
            raise ValueError("'--' would end the kernel's words: what follows would be init's")
        if self.text.startswith(_OWN) and not self.text.startswith(PLACEBO_WORD):
            raise ValueError(f"{self.text!r}: words that begin with hardcost. are reserved")
        return self.text

    @property
    def key(self) -> str:
        """Return the parameter's name as the kernel compares it: `-` and `_` are the same."""
        return self.text.replace('"', "").partition("=")[0].replace("-", "_")

    @property
    def uncounted(self) -> str | None:
        known = blind_spot_of("boot", self.key)
        return None if known is None else known.reason

    @property
    def reach(self) -> Reach | None:
        return reach(self.text.partition("=")[0].replace("-", "_"))

    @property
    def setting(self) -> str:
        name, sign, value = self.text.partition("=")
        switch = "1" if _ON.fullmatch(value) else "0" if _OFF.fullmatch(value) else value
        return f"{name.replace('-', '_')}{sign}{switch}"

    @property
    def boot_words(self) -> tuple[str, ...]:
        """Return the word; every kernel knows how to leave out audit."""
        return () if self.text == AUDIT_OFF or self.text.startswith(_OWN) else (self.text,)

    @property
    def wrong_value(self) -> str | None:
        """Return the valid values where no kernel accepts the parameter's; else None.

        Parameters missing from the table are not checked.
        """
        known = blind_spot_of("boot", self.key)
        _, sign, value = self.text.replace('"', "").partition("=")
        if known is None or not known.values or not sign:
            return None
        if value in known.values or value.startswith(known.prefixes or "\0"):
            return None
        near = difflib.get_close_matches(value, known.values, 1)
        return near[0] if near else " or ".join(known.values)


class BootKeys(BaseModel):
    """`boot` is a list of words on the kernel's command line."""

    model_config = TABLE

    boot: tuple[str, ...] = ()


class BootMechanism(Mechanism[BootKeys]):
    """A word on the kernel's command line."""

    name = "boot"
    toml = '`boot = ["init_on_alloc=1"]`'
    verified_by = "the guest's kernel, which has to know the word and its value"
    keys = BootKeys
    export_verb = "cmdline"

    def read(self, table: BootKeys, source: TableSource) -> Iterator[Control]:
        for index, text in enumerate(table.boot):
            boot = BootParameter(text, place=source.place("boot", index))
            try:
                _ = boot.word
            except ValueError as error:
                source.fault(str(error), "boot", index)
            else:
                yield boot

    def write(self, controls: Sequence[Control]) -> Iterator[TomlEntry]:
        for one in of_kind(controls, BootParameter):
            yield TomlEntry(("boot",), one.text, (one.name,), element=True)

    def boot_parameters(self, controls: Sequence[Control]) -> Sequence[str]:
        """Return the words in their order.

        Raises:
            InputError: One is not a single word.
        """
        words: list[str] = []
        for control in of_kind(controls, BootParameter):
            try:
                words.append(control.word)
            except ValueError as error:
                raise InputError(str(error), hint="give each word by itself") from None
        return tuple(words)

    def check_boot(
        self, controls: Sequence[Control], verdicts: Sequence[WordVerdict]
    ) -> tuple[Sequence[Problem], Sequence[str]]:
        """Return a problem for each parameter that the guest's kernel does not take as it is.

        One that the kernel does not know, or whose value it ignores, would be billed as free. Notes
        are on what is not known.
        """
        own = of_kind(controls, BootParameter)
        by_word = {verdict.word: verdict for verdict in verdicts}
        problems = [found for one in own if (found := _refusal(one, by_word.get(one.text)))]
        words = {one.text for one in own}
        noted = (verdict for verdict in verdicts if verdict.note and verdict.word in words)
        return problems, [f"boot parameter '{one.word}': {one.note}" for one in noted]

    def overruled_controls(self, controls: Sequence[Control]) -> Iterator[tuple[str, str]]:
        """Yield each parameter that another switches off, and which does.

        Source: `init_mem_debugging_and_hardening` of mm/page_alloc.c (later mm/mm_init.c),
        `slab_want_init_on_alloc` and `_free` of mm/slab.h, `setup_slub_debug` of mm/slub.c.
        """
        words = {one.text: one.setting for one in of_kind(controls, BootParameter)}
        last = {name: text for text in words if (name := text.partition("=")[0]) in _LAST_ACTS}
        for text in tuple(words):
            acts = last.get(text.partition("=")[0], text)
            if acts != text:
                del words[text]
                yield text, f"{acts} replaces {text}: the kernel takes the last of them"
        inits = [text for text, setting in words.items() if setting in _INITS]
        for text, setting in words.items():
            objects = _poisoned_objects(text)
            if setting == _POISON:
                off = "switches off {}: the kernel poisons pages instead of initialising memory"
                source = "mm/page_alloc.c"
            elif objects is not None:
                off = f"switches off {{}} for {objects}: poisoned ones are not initialised"
                source = "mm/slab.h"
            else:
                continue
            for init in inits:
                yield init, f"{text} {off.format(init)} ({source})"

    def export(self, profile: Profile, form: LoaderForm = "plain") -> Exported:
        """Return a profile's boot parameters as a file of GRUB's, of bootc's, or as a line."""

        def written(control: BootParameter) -> str | None:
            try:
                word = control.word
            except ValueError:
                return None
            return word if form != "grub" or _GRUB.fullmatch(word) else None

        words, left = lines(
            profile.controls,
            BootParameter,
            written,
            other="it is no boot parameter",
            unfit="this form can't hold its characters",
        )
        what = "boot parameters"
        if form == "plain":
            return Exported(" ".join(words) + "\n", len(words), tuple(left), what)
        if form == "grub":
            line = f'GRUB_CMDLINE_LINUX="$GRUB_CMDLINE_LINUX {" ".join(words)}"'
        else:
            line = f"kargs = [{', '.join(json.dumps(word) for word in words)}]"
        return with_comments(profile, [line], len(words), left, what)

    def ansible_tasks(self, profile: Profile) -> tuple[Sequence[TaskGroup], Sequence[Left]]:
        """Return the group of boot parameters, whose file is GRUB's."""
        own = of_kind(profile.controls, BootParameter)
        made = self.export(replace(profile, controls=tuple(own)), "grub")
        lacking = {name for name, _ in made.left}
        values = {"boot_parameters": Outside([one.text for one in own if one.name not in lacking])}
        files = {"50-ROLE.cfg": made.text}
        return [TaskGroup("boot", "boot parameters", made.controls, values, files)], made.left


def _poisoned_objects(text: str) -> str | None:
    """Return which objects a boot parameter has poisoned, in words; None if none are.

    Source: `setup_slub_debug` and `parse_slub_debug_flags` of mm/slub.c.
    """
    found = _SLUB.fullmatch(text)
    if found is None:
        return None
    if not found["blocks"]:
        return "objects"  # without flags everything is checked
    every, named = None, False
    for block in filter(None, found["blocks"].split(";")):
        flags, listed, _ = block.partition(",")
        # A `-` takes back all flags before it.
        poison = "p" in flags.lower().rpartition("-")[2] or (not flags and bool(listed))
        if listed:
            named |= poison
        else:
            every = poison
    if every:
        return "objects"
    return "objects of the slabs that it names" if named else None


def _refusal(control: BootParameter, verdict: WordVerdict | None) -> Problem | None:
    """Return the problem of a parameter, by the kernel's verdict or by its value."""
    name, sign, _ = control.text.partition("=")
    value = control.wrong_value
    if verdict is not None and verdict.refused:
        message = f"boot parameter '{control.text}': {verdict.refused}"
        meant = None if verdict.meant in {None, name} else verdict.meant
    elif value is not None:
        message = f"boot parameter '{control.text}': the kernel takes no such value of {name}"
        meant = None
    else:
        return None
    near = meant or (f"{name}{sign}{value}" if value else None)
    hint = f"did you mean {near}?" if near else "leave it out, or give the guest another kernel"
    return Problem(message, control.place, hint)


BOOT_PARAMETERS = BootMechanism()

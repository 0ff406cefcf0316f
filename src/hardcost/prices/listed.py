"""The controls that the price list is about: those of the catalogue and of benchmarks.

Boot parameters, sysctls and security modules are listed as they are, kernel options by what does
the same without a build, where there is that. Audit rules are not listed: their cost is predicted.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from hardcost.controls.control import Control
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.lsm import Lsm
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.profiles import benchmark_ids
from hardcost.profiles.kernel import options
from hardcost.profiles.kernel.defaults import default_of
from hardcost.profiles.kernel.options import BootEntry

_MODULES = {
    "apparmor": "Confines programs to what their AppArmor profiles allow.",
    "permissive": "Loads SELinux's policy and logs what it would refuse; it refuses nothing.",
    "enforcing": "Confines programs to what SELinux's policy allows.",
}
_SWITCHED_OFF = {
    "init_on_alloc=1": "init_on_alloc=0",
    "randomize_kstack_offset=1": "randomize_kstack_offset=0",
    "hardened_usercopy=1": "hardened_usercopy=off",
    "vsyscall=none": "vsyscall=emulate",
    "iommu.passthrough=0": "iommu.passthrough=1",
    "rodata=on": "rodata=off",
    "tsx=off": "tsx=on",
}
"""The words that switch off what is a default, where that is not done by leaving a word out."""

_ASKED = {
    "slub_debug=F": "Checks each slab object's state when it is allocated and freed.",
    "slub_debug=Z": "Puts red zones around slab objects, which detect overflows.",
    "slub_debug=P": "Poisons slab objects, which detects their use after they are freed.",
    "slub_debug=FZ": "Checks slab objects, and puts red zones around them.",
    "slub_debug=FZP": "Checks slab objects, puts red zones around them, and poisons them.",
}
"""Parts of what the catalogue recommends, of which people ask what each costs."""

_LEFT_OUT = "boot parameter that switches a protection off"
_ELSEWHERE = "it is for {arch}, and only x86-64 is measured"
_GONE = "Linux 6.1 does not have it: {note}"


@dataclass(frozen=True)
class ListedControl:
    """A control of the list.

    `control` is what switches it on. What every system has anyway is measured by what switches it
    off, `without`: then the price is what that saves. One with neither can't be measured.
    `protects` says what it is good for, `severity` how grave its absence is, `references` who asks
    for it. `same_as` are the kernel options that do the same, `equivalent` is what does the same as
    a kernel option, and `note` says what differs. `why` says why it has no price, if that is known
    before anything is measured.
    """

    name: str
    kind: str
    control: Control | None = None
    without: Control | None = None
    protects: str = ""
    severity: str = ""
    references: tuple[str, ...] = ()
    same_as: tuple[str, ...] = ()
    note: str = ""
    why: str | None = None
    equivalent: Control | None = None

    @property
    def setting(self) -> str:
        """The setting in any spelling of its value: `pti=1` is `pti=on`."""
        return self.name if self.control is None else self.control.setting

    @property
    def measured(self) -> Control | None:
        """What is measured: the control, or what switches it off; None if nothing can be."""
        return None if self.why is not None else self.without or self.control


@cache
def listed() -> tuple[ListedControl, ...]:
    """Return every control of the list once: modules, boot parameters, sysctls, options."""
    found: dict[str, ListedControl] = {}
    kinds = (
        _modules(),
        _boot_parameters(),
        _sysctls(),
        _equivalents(),
        _required(),
        _parts(),
        _options(),
    )
    for one in itertools.chain(*kinds):
        found.setdefault(one.name, one)
    return tuple(found.values())


def measurable() -> tuple[ListedControl, ...]:
    """Return the controls that can be measured by themselves, in the order of the list."""
    return tuple(one for one in listed() if one.measured is not None)


def _switched_off(control: BootParameter | Sysctl) -> Control | None:
    """Return what switches off a control that is a default anyway; None if it is none."""
    if default_of(control, ()) is None:
        return None
    if isinstance(control, Sysctl):
        return Sysctl(control.key, "1" if control.value == "0" else "0")
    return BootParameter(_SWITCHED_OFF[control.name])


def _modules() -> Iterator[ListedControl]:
    for mode, protects in _MODULES.items():
        control = Lsm(mode)  # type: ignore[arg-type]  # the keys are modes
        yield ListedControl(
            control.name, "security module", control, protects=protects, severity="high"
        )


def _boot_parameters() -> Iterator[ListedControl]:
    for entry in options.boot_parameters():
        control, left_out = entry.control, entry.rule == "absent"
        yield ListedControl(
            name=entry.name if control is None else control.name,
            kind=_LEFT_OUT if left_out else BootParameter.noun,
            control=control,
            without=_off_word(entry),
            protects=_leaving_out(entry.protects) if left_out else entry.protects,
            severity=entry.severity,
            references=entry.references,
            same_as=() if entry.option is None else (entry.option,),
            note=entry.note,
            why=_lacks_price(entry),
        )


def _leaving_out(protects: str) -> str:
    return f"Leaving it out {protects[0].lower()}{protects[1:]}"


def _lacks_price(entry: BootEntry) -> str | None:
    """Return why a boot parameter has no price, as far as the catalogue says."""
    if entry.arch != "x86-64":
        return _ELSEWHERE.format(arch=entry.arch)
    return _GONE.format(note=entry.note) if entry.rule == "absent" and entry.note else None


def _off_word(entry: BootEntry) -> Control | None:
    """Return the word that switches off what a kernel does by itself."""
    if entry.rule == "absent":
        return BootParameter(entry.name)
    if entry.rule == "not-off":
        return BootParameter(f"{entry.name}=off")
    return None if entry.control is None else _switched_off(entry.control)


def _sysctls() -> Iterator[ListedControl]:
    for entry in options.sysctls():
        yield ListedControl(
            name=entry.control.name,
            kind=Sysctl.noun,
            control=entry.control,
            without=_switched_off(entry.control),
            protects=entry.protects,
            severity=entry.severity,
            references=entry.references,
            same_as=() if entry.option is None else (entry.option,),
            note=entry.note,
        )


def _equivalents() -> Iterator[ListedControl]:
    """Yield the boot parameters and sysctls that do what a kernel option does."""
    for option in options.entries():
        control = options.equivalent_of(option.option)
        if control is not None:
            yield ListedControl(
                name=control.name,
                kind=control.noun,
                control=control,
                without=_switched_off(control),
                protects=option.protects,
                severity=option.severity,
                references=option.references,
                same_as=(option.option.name,),
                note=option.equivalence_note,
            )


_NOTES = {
    "page_poison=1": "with it the kernel ignores init_on_alloc and init_on_free (mm/page_alloc.c):"
    " what it saves is what the default init_on_alloc=1 costs",
}


def _required() -> Iterator[ListedControl]:
    """Yield the boot parameters and sysctls that benchmarks require and the catalogue lacks."""
    for product in benchmark_ids.PRODUCTS:
        for tables in benchmark_ids.tables_of(product, "sysctl", "boot"):
            for control in settings_in(tables):
                note = _NOTES.get(control.name, "")
                without = _switched_off(control)
                yield ListedControl(control.name, control.noun, control, without, note=note)


def settings_in(tables: Mapping[str, Any]) -> Iterator[BootParameter | Sysctl]:
    """Yield the sysctls and boot parameters in the tables of a benchmark's control."""
    for key, value in tables.get("sysctl", {}).items():
        yield Sysctl(key, str(value))
    for word in tables.get("boot", ()):
        yield BootParameter(word)


def _parts() -> Iterator[ListedControl]:
    """Yield parts of recommended boot parameters."""
    for word, protects in _ASKED.items():
        boot = BootParameter(word)
        yield ListedControl(boot.name, boot.noun, boot, protects=protects, severity="low")


def _options() -> Iterator[ListedControl]:
    """Yield the kernel options, each with what does the same, or why it has no price."""
    for entry in options.entries():
        gone, equivalent = entry.status == "gone", options.equivalent_of(entry.option)
        yield ListedControl(
            name=entry.option.name,
            kind=entry.option.noun,
            control=None if gone or equivalent is not None else entry.option,
            protects=entry.protects,
            severity=entry.severity,
            references=entry.references,
            note=entry.note or entry.equivalence_note,
            why=_GONE.format(note=entry.note) if gone else None,
            equivalent=None if gone else equivalent,
        )

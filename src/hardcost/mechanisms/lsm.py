"""The major security module: none, AppArmor, or SELinux, by words on the kernel's command line.

The minor modules are the same in every mode, so that modes differ only in the major one. By
default, Debian's kernel starts AppArmor. SELinux's policy is loaded by the guest's init, and the
image's files are labelled; AppArmor's profiles are loaded here: those of Debian's packages for
programs that the guest has.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from hardcost.controls.control import Lsm
from hardcost.controls.mechanisms import answered, auditd
from hardcost.errors import InputError, TrialError
from hardcost.protocol import requests as ask
from hardcost.protocol.answers import ContentAnswer, StartedAnswer, all_of, find

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hardcost.controls.control import Control
    from hardcost.protocol.answers import Answer
    from hardcost.protocol.requests import Request

_WORDS = {
    "none": ("lsm=landlock,lockdown,yama,integrity,bpf",),
    "apparmor": ("lsm=landlock,lockdown,yama,integrity,apparmor,bpf", "apparmor=1"),
    "permissive": (
        "lsm=landlock,lockdown,yama,integrity,selinux,bpf",
        "selinux=1",
        "enforcing=0",
    ),
    "enforcing": (
        "lsm=landlock,lockdown,yama,integrity,selinux,bpf",
        "selinux=1",
        "enforcing=1",
    ),
}
_MAJOR = frozenset({"apparmor", "selinux", "smack", "tomoyo"})
_MODULE = {"none": None, "apparmor": "apparmor", "permissive": "selinux", "enforcing": "selinux"}
_ENFORCE = {"permissive": ("0", "Permissive"), "enforcing": ("1", "Enforcing")}

_PROFILES = (
    "lsb_release",
    "nvidia_modprobe",
    "usr.bin.freshclam",
    "usr.sbin.clamd",
    "usr.sbin.mariadbd",
)
"""Profiles of /etc/apparmor.d by Debian's packages, without those of the package
apparmor-profiles, whose programs the guest lacks. mariadbd's is empty in Debian."""

# Simplifying expressions triples the compile time without changing the result.
_PARSER = ("apparmor_parser", "-r", "-K", "-O", "no-expr-simplify")

_INODE = re.compile(r"(?<=:)\[[0-9]+\]")  # of a pipe or socket: another in each trial
_SHOWN_DENIALS = 3

ONLY_IN_GUESTS = frozenset({"apparmor-load", "getenforce", "lsm-denials"})
"""What a machine that runs already is not asked for: its own system has loaded what
AppArmor has, the kernel says SELinux's mode without getenforce, and denials are not counted."""


def boot_parameters(controls: Sequence[Control]) -> tuple[str, ...]:
    """Return the words that choose the security module."""
    lsm = _lsm(controls)
    return () if lsm is None else _WORDS[lsm.mode]


def requests(controls: Sequence[Control]) -> tuple[Request, ...]:
    """Return what loads AppArmor's profiles, and what tells which module there is."""
    lsm = _lsm(controls)
    if lsm is None:
        return ()
    asked: list[Request] = [ask.read("lsm", "/sys/kernel/security/lsm")]
    if lsm.mode == "apparmor":
        paths = [f"/etc/apparmor.d/{profile}" for profile in _PROFILES]
        asked += [
            ask.run("apparmor-load", [*_PARSER, *paths]),
            ask.read("apparmor-enabled", "/sys/module/apparmor/parameters/enabled"),
            ask.read("apparmor-profiles", "/sys/kernel/security/apparmor/profiles"),
        ]
    if lsm.mode in _ENFORCE:
        asked += [
            ask.read("selinux-enforce", "/sys/fs/selinux/enforce"),
            ask.run("getenforce", ["getenforce"], expect=None),
        ]
    return tuple(asked)


def finish(controls: Sequence[Control]) -> tuple[Request, ...]:
    """Return what counts denials, and what tells whether SELinux still is in its mode."""
    lsm = _lsm(controls)
    if lsm is None or lsm.mode == "none":
        return ()
    counted = ask.count("lsm-denials", "denials", auditd.LOG)
    if lsm.mode not in _ENFORCE:
        return (counted,)
    return (ask.read("selinux-enforce-end", "/sys/fs/selinux/enforce"), counted)


def verify(controls: Sequence[Control], answers: Sequence[Answer]) -> tuple[str, ...]:
    """Check that the module is there, with its policy, in its mode.

    Returns notes: who is confined by what, and what was denied.

    Raises:
        TrialError: The kernel runs another module, or another mode, than was asked for.
    """
    lsm = _lsm(controls)
    if lsm is None:
        return ()
    shown = answered.text(answers, "lsm")
    if not shown:
        raise TrialError("the guest does not say which security modules its kernel runs")
    modules = shown.split(",")
    wanted = _MODULE[lsm.mode]
    if _MAJOR.intersection(modules) != ({wanted} if wanted else set()):
        raise TrialError(
            f"{lsm.name} did not take: the kernel runs {', '.join(modules)}",
            hint="does another boot parameter choose the security module?",
        )
    if lsm.mode == "none":
        return ()
    notes = _apparmor(answers) if lsm.mode == "apparmor" else _selinux(lsm, answers)
    return (*notes, *_confined(lsm, answers), *_denied(lsm, controls, answers))


def _lsm(controls: Sequence[Control]) -> Lsm | None:
    found = [control for control in controls if isinstance(control, Lsm)]
    if len(found) > 1:
        raise InputError(f"there can't be both {found[0].name} and {found[1].name}")
    return found[0] if found else None


def _apparmor(answers: Sequence[Answer]) -> tuple[str, ...]:
    """Return a note of the profiles that are loaded."""
    enabled = answered.text(answers, "apparmor-enabled")
    profiles = (answered.text(answers, "apparmor-profiles") or "").splitlines()
    if enabled != "Y" or not profiles:
        raise TrialError(
            f"lsm=apparmor did not take: enabled is {enabled}, {len(profiles)} profiles are loaded"
        )
    names = ", ".join(sorted(profiles))
    loaded = answered.has_run(answers, "apparmor-load")
    brought = " that Debian's packages bring" if loaded else ""
    return (f"AppArmor has the profiles{brought}: {names}",)


def _selinux(lsm: Lsm, answers: Sequence[Answer]) -> tuple[str, ...]:
    """Check SELinux's mode at the beginning and at the end."""
    number, word = _ENFORCE[lsm.mode]
    asked = answered.has_run(answers, "getenforce")
    said = answered.output(answers, "getenforce").strip() if asked else word
    found = [answered.text(answers, "selinux-enforce")]
    if find(answers, ContentAnswer, "selinux-enforce-end") is not None:
        found.append(answered.text(answers, "selinux-enforce-end"))
    if said != word or set(found) != {number}:
        shown = [one or "missing" for one in found]
        by_program = f"getenforce says {said or 'nothing'}, " if asked else ""
        raise TrialError(
            f"{lsm.name} did not take: {by_program}"
            f"/sys/fs/selinux/enforce is {', then '.join(shown)}",
            hint="does another boot parameter set SELinux's mode?",
        )
    return ()


def _confined(lsm: Lsm, answers: Sequence[Answer]) -> Iterator[str]:
    """Yield a note of the label that each service ran under."""
    started = all_of(answers, StartedAnswer)
    if lsm.mode in _ENFORCE:
        for answer in started:
            if not answer.context:
                raise TrialError(f"{lsm.name}: the service {answer.name} runs without a label")
    labels = {one.name: _domain(one.context or "unconfined") for one in started}
    if labels:
        shown = ", ".join(f"{name}: {one}" for name, one in labels.items())
        yield f"{lsm.name}: services ran as {shown}"


def _domain(context: str) -> str:
    """Return the type of an SELinux context; another label as it is."""
    parts = context.strip("\0\n ").split(":")
    return parts[2] if len(parts) > 2 else ":".join(parts)  # noqa: PLR2004  (user:role:type)


def _denied(lsm: Lsm, controls: Sequence[Control], answers: Sequence[Answer]) -> Iterator[str]:
    """Yield a note of what was denied, as far as the kernel's log and auditd's tell."""
    counted = answered.counted(answers, "lsm-denials")
    if counted is None:
        return
    times: Counter[str] = Counter()
    for what, number in counted.texts.items():
        times[_INODE.sub("[…]", what)] += number
    total = times.total()
    mechanisms = {control.mechanism for control in controls}
    if "audit" in mechanisms and "auditd" not in mechanisms:
        yield "denials went to the probe, which is the audit daemon here, and were not counted"
    elif total:
        most = times.most_common(_SHOWN_DENIALS)
        shown = "; ".join(f"{number} x {what}" for what, number in most)
        yield f"{lsm.name}: denials in the logs: {total}, most of them {shown}"
    else:
        yield f"{lsm.name}: no denials in the logs"

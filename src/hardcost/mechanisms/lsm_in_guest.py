"""A guest's security module: what the guest is asked, and whether its answers show the module."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from hardcost.controls.control import Control
from hardcost.errors import TrialError
from hardcost.mechanisms import auditd, replies
from hardcost.mechanisms.audit import AuditDaemon
from hardcost.protocol import ask
from hardcost.protocol.answers import Answer, ContentAnswer, StartedAnswer, all_of, find
from hardcost.protocol.requests import Request

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


def module_requests(mode: str) -> tuple[Request, ...]:
    """Return the requests that load AppArmor's profiles and report the module."""
    asked: list[Request] = [ask.read("lsm", "/sys/kernel/security/lsm")]
    if mode == "apparmor":
        paths = [f"/etc/apparmor.d/{profile}" for profile in _PROFILES]
        asked += [
            ask.run("apparmor-load", [*_PARSER, *paths]),
            ask.read("apparmor-enabled", "/sys/module/apparmor/parameters/enabled"),
            ask.read("apparmor-profiles", "/sys/kernel/security/apparmor/profiles"),
        ]
    if mode in _ENFORCE:
        asked += [
            ask.read("selinux-enforce", "/sys/fs/selinux/enforce"),
            ask.run("getenforce", ["getenforce"], expect=None),
        ]
    return tuple(asked)


def final_requests(mode: str) -> tuple[Request, ...]:
    """Return the requests that count denials and report whether SELinux kept its mode."""
    if mode == "none":
        return ()
    counted = ask.count("lsm-denials", "denials", auditd.LOG)
    if mode not in _ENFORCE:
        return (counted,)
    return (ask.read("selinux-enforce-end", "/sys/fs/selinux/enforce"), counted)


def verify_module(
    mode: str, controls: Sequence[Control], answers: Sequence[Answer]
) -> tuple[str, ...]:
    """Check that the module is there, with its policy, in its mode.

    Returns notes: who is confined by what, and what was denied.

    Raises:
        TrialError: The kernel runs another module, or another mode, than was asked for.
    """
    shown = replies.text(answers, "lsm")
    if not shown:
        raise TrialError("the guest does not say which security modules its kernel runs")
    modules = shown.split(",")
    wanted = _MODULE[mode]
    if _MAJOR.intersection(modules) != ({wanted} if wanted else set()):
        raise TrialError(
            f"lsm={mode} did not take: the kernel runs {', '.join(modules)}",
            hint="remove the boot parameter (`lsm=`, `security=`) that chooses another",
        )
    if mode == "none":
        return ()
    notes = _apparmor(answers) if mode == "apparmor" else _selinux(mode, answers)
    return (*notes, *_notes_of_labels(mode, answers), *_notes_of_denials(mode, controls, answers))


def _apparmor(answers: Sequence[Answer]) -> tuple[str, ...]:
    """Return a note of the profiles that are loaded."""
    enabled = replies.text(answers, "apparmor-enabled")
    profiles = (replies.text(answers, "apparmor-profiles") or "").splitlines()
    if enabled != "Y" or not profiles:
        raise TrialError(
            f"lsm=apparmor did not take: enabled is {enabled}, {len(profiles)} profiles are loaded"
        )
    names = ", ".join(sorted(profiles))
    loaded = replies.has_run(answers, "apparmor-load")
    brought = " that Debian's packages bring" if loaded else ""
    return (f"AppArmor has the profiles{brought}: {names}",)


def _selinux(mode: str, answers: Sequence[Answer]) -> tuple[str, ...]:
    """Check SELinux's mode at the beginning and at the end."""
    number, word = _ENFORCE[mode]
    asked = replies.has_run(answers, "getenforce")
    said = replies.output(answers, "getenforce").strip() if asked else word
    found = [replies.text(answers, "selinux-enforce")]
    if find(answers, ContentAnswer, "selinux-enforce-end") is not None:
        found.append(replies.text(answers, "selinux-enforce-end"))
    if said != word or set(found) != {number}:
        shown = [one or "missing" for one in found]
        by_program = f"getenforce says {said or 'nothing'}, " if asked else ""
        raise TrialError(
            f"lsm={mode} did not take: {by_program}"
            f"/sys/fs/selinux/enforce is {', then '.join(shown)}",
            hint="remove the other boot parameter (`enforcing=`) that sets SELinux's mode",
        )
    return ()


def _notes_of_labels(mode: str, answers: Sequence[Answer]) -> Iterator[str]:
    """Yield a note of the label that each service ran under."""
    started = all_of(answers, StartedAnswer)
    if mode in _ENFORCE:
        for answer in started:
            if not answer.context:
                raise TrialError(f"lsm={mode}: the service {answer.name} runs without a label")
    labels = {one.name: _domain(one.context or "unconfined") for one in started}
    if labels:
        shown = ", ".join(f"{name}: {one}" for name, one in labels.items())
        yield f"lsm={mode}: services ran as {shown}"


def _domain(context: str) -> str:
    """Return the type of an SELinux context; another label as it is."""
    parts = context.strip("\0\n ").split(":")
    return parts[2] if len(parts) > 2 else ":".join(parts)  # noqa: PLR2004  (user:role:type)


def _notes_of_denials(
    mode: str, controls: Sequence[Control], answers: Sequence[Answer]
) -> Iterator[str]:
    """Yield a note of denials, as far as the kernel's log and auditd's show them."""
    counted = replies.counted_answer(answers, "lsm-denials")
    if counted is None:
        return
    times: Counter[str] = Counter()
    for what, number in counted.texts.items():
        times[_INODE.sub("[…]", what)] += number
    total = times.total()
    audited = any(isinstance(one, AuditDaemon) for one in controls)
    if audited and not any(one.takes_records for one in controls):
        yield "denials went to the probe, which is the audit daemon here, and were not counted"
    elif total:
        most = times.most_common(_SHOWN_DENIALS)
        shown = "; ".join(f"{number} x {what}" for what, number in most)
        yield f"lsm={mode}: denials in the logs: {total}, most of them {shown}"
    else:
        yield f"lsm={mode}: no denials in the logs"

"""The major security module: none, AppArmor, or SELinux, by words on the kernel's command line.

The minor modules are the same in every mode, so that modes differ only in the major one. By
default, Debian's kernel starts AppArmor. SELinux's policy is loaded by the guest's init, and the
image's files are labelled; AppArmor's profiles are loaded here: those of Debian's packages for
programs that the guest has.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import BaseModel

from hardcost.controls.control import Control, Profile, of_kind
from hardcost.errors import InputError, TrialError
from hardcost.mechanisms import auditd, replies
from hardcost.mechanisms.ansible import TaskGroup
from hardcost.mechanisms.audit import AuditDaemon
from hardcost.mechanisms.export import Left
from hardcost.mechanisms.mechanism import TABLE, Mechanism, Phase, TableSource
from hardcost.protocol import ask
from hardcost.protocol.answers import Answer, ContentAnswer, StartedAnswer, all_of, find
from hardcost.protocol.requests import Request
from hardcost.toml.write import TomlEntry

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

LsmMode = Literal["none", "apparmor", "permissive", "enforcing"]
"""Which major security module is active; `permissive` and `enforcing` are SELinux's modes."""

_ENFORCING = ("CCE-84079-3",)
"""The RHEL 9 rule of SCAP Security Guide that requires SELinux's state."""


@dataclass(frozen=True)
class Lsm(Control):
    """The major security module of a Debian guest, with its policy loaded."""

    mode: LsmMode

    packages: ClassVar[tuple[str, ...]] = ("apparmor", "selinux-policy-default")
    boots: ClassVar[bool] = True
    whole_system: ClassVar[bool] = True
    suspect: ClassVar[bool] = True
    mechanism: ClassVar[str] = "lsm"
    lacking: ClassVar[str] = "no security module"
    single: ClassVar[bool] = True

    @property
    def name(self) -> str:
        return f"lsm={self.mode}"

    def absence(self) -> Control:
        """Return that there is none: Debian's kernel would start AppArmor by default."""
        return Lsm("none")


class LsmKeys(BaseModel):
    """`lsm` is the major security module and its mode."""

    model_config = TABLE

    lsm: LsmMode | None = None


class LsmMechanism(Mechanism[LsmKeys]):
    """The security module, SELinux with Debian's policy loaded and all files labelled."""

    name = "lsm"
    toml = '`lsm = "none"`, `"apparmor"`, `"permissive"`, `"enforcing"`'
    verified_by = "the mode before and after, each service's domain"
    keys = LsmKeys
    phase = Phase.POLICY
    # A system that runs has loaded AppArmor's profiles itself, the kernel says SELinux's mode
    # without getenforce, and denials are not counted there.
    only_in_guests = frozenset({"apparmor-load", "getenforce", "lsm-denials"})

    def read(self, table: LsmKeys, source: TableSource) -> Iterator[Control]:
        if table.lsm is not None:
            ids = _ENFORCING if table.lsm == "enforcing" else ()
            yield Lsm(table.lsm, ids=ids, place=source.place("lsm"))

    def write(self, controls: Sequence[Control]) -> Iterator[TomlEntry]:
        for one in of_kind(controls, Lsm):
            yield TomlEntry(("lsm",), one.mode, (one.name,))

    def ansible_tasks(self, profile: Profile) -> tuple[Sequence[TaskGroup], Sequence[Left]]:
        """Return SELinux's group and AppArmor's; that there is no module is nothing to set."""
        found = of_kind(profile.controls, Lsm)
        modes = [one.mode for one in found if one.mode in _ENFORCE]
        values = {"selinux_mode": modes[-1]} if modes else {}
        apparmor = sum(one.mode == "apparmor" for one in found)
        groups = (
            TaskGroup("selinux", "SELinux's mode", len(modes), values, can_refuse=True),
            TaskGroup("apparmor", "AppArmor", apparmor, can_refuse=True),
        )
        return groups, [(one.name, "it is the lack of one") for one in found if one.mode == "none"]

    def boot_parameters(self, controls: Sequence[Control]) -> tuple[str, ...]:
        """Return the words that choose the security module."""
        lsm = _lsm(controls)
        return () if lsm is None else _WORDS[lsm.mode]

    def requests(self, controls: Sequence[Control]) -> tuple[Request, ...]:
        """Return the requests that load AppArmor's profiles and report the module."""
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

    def finish(self, controls: Sequence[Control]) -> tuple[Request, ...]:
        """Return the requests that count denials and report whether SELinux kept its mode."""
        lsm = _lsm(controls)
        if lsm is None or lsm.mode == "none":
            return ()
        counted = ask.count("lsm-denials", "denials", auditd.LOG)
        if lsm.mode not in _ENFORCE:
            return (counted,)
        return (ask.read("selinux-enforce-end", "/sys/fs/selinux/enforce"), counted)

    def verify(self, controls: Sequence[Control], answers: Sequence[Answer]) -> tuple[str, ...]:
        """Check that the module is there, with its policy, in its mode.

        Returns notes: who is confined by what, and what was denied.

        Raises:
            TrialError: The kernel runs another module, or another mode, than was asked for.
        """
        lsm = _lsm(controls)
        if lsm is None:
            return ()
        shown = replies.text(answers, "lsm")
        if not shown:
            raise TrialError("the guest does not say which security modules its kernel runs")
        modules = shown.split(",")
        wanted = _MODULE[lsm.mode]
        if _MAJOR.intersection(modules) != ({wanted} if wanted else set()):
            raise TrialError(
                f"{lsm.name} did not take: the kernel runs {', '.join(modules)}",
                hint="remove the boot parameter (`lsm=`, `security=`) that chooses another",
            )
        if lsm.mode == "none":
            return ()
        notes = _apparmor(answers) if lsm.mode == "apparmor" else _selinux(lsm, answers)
        return (*notes, *_notes_of_labels(lsm, answers), *_notes_of_denials(lsm, controls, answers))


def _lsm(controls: Sequence[Control]) -> Lsm | None:
    found = of_kind(controls, Lsm)
    if len(found) > 1:
        raise InputError(f"there can't be both {found[0].name} and {found[1].name}")
    return found[0] if found else None


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


def _selinux(lsm: Lsm, answers: Sequence[Answer]) -> tuple[str, ...]:
    """Check SELinux's mode at the beginning and at the end."""
    number, word = _ENFORCE[lsm.mode]
    asked = replies.has_run(answers, "getenforce")
    said = replies.output(answers, "getenforce").strip() if asked else word
    found = [replies.text(answers, "selinux-enforce")]
    if find(answers, ContentAnswer, "selinux-enforce-end") is not None:
        found.append(replies.text(answers, "selinux-enforce-end"))
    if said != word or set(found) != {number}:
        shown = [one or "missing" for one in found]
        by_program = f"getenforce says {said or 'nothing'}, " if asked else ""
        raise TrialError(
            f"{lsm.name} did not take: {by_program}"
            f"/sys/fs/selinux/enforce is {', then '.join(shown)}",
            hint="remove the other boot parameter (`enforcing=`) that sets SELinux's mode",
        )
    return ()


def _notes_of_labels(lsm: Lsm, answers: Sequence[Answer]) -> Iterator[str]:
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


def _notes_of_denials(
    lsm: Lsm, controls: Sequence[Control], answers: Sequence[Answer]
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
        yield f"{lsm.name}: denials in the logs: {total}, most of them {shown}"
    else:
        yield f"{lsm.name}: no denials in the logs"


SECURITY_MODULE = LsmMechanism()

from __future__ import annotations

from typing import Any

import pytest

from hardcost.controls.control import Control
from hardcost.errors import TrialError
from hardcost.mechanisms.audit import AuditDaemon
from hardcost.mechanisms.lsm import SECURITY_MODULE, Lsm, LsmMode
from tests.protocol.json_messages import as_sent, typed

SELINUX = "lockdown,capability,landlock,yama,selinux,bpf"
APPARMOR = "lockdown,capability,landlock,yama,apparmor,bpf"
NONE = "lockdown,capability,landlock,yama,bpf"


def content(name: str, text: str | None) -> dict[str, Any]:
    return {"event": "content", "name": name, "path": "/x", "text": text, "bytes": 1}


def ran(name: str, stdout: str) -> dict[str, Any]:
    return {"event": "ran", "name": name, "status": 0, "stdout": stdout, "stderr": ""}


def started(name: str, context: str | None) -> dict[str, Any]:
    return {"event": "started", "name": name, "pid": 7, "context": context}


def selinux(
    modules: str = SELINUX, enforce: str | None = "1\n", said: str = "Enforcing\n"
) -> list[dict[str, Any]]:
    return [
        content("lsm", modules),
        content("selinux-enforce", enforce),
        ran("getenforce", said),
        started("httpd", "system_u:system_r:httpd_t:s0\n"),
    ]


def notes(mode: LsmMode, answers: list[dict[str, Any]], *others: Control) -> tuple[str, ...]:
    return SECURITY_MODULE.verify((Lsm(mode), *others), typed(answers))


def test_every_mode_has_the_same_minor_modules() -> None:
    words = [
        SECURITY_MODULE.boot_parameters((Lsm(mode),))[0]
        for mode in ("none", "apparmor", "enforcing")
    ]
    assert {word.replace("apparmor,", "").replace("selinux,", "") for word in words} == {words[0]}


def test_nothing_is_asked_without_the_control() -> None:
    assert SECURITY_MODULE.boot_parameters(()) == ()
    assert as_sent(SECURITY_MODULE.requests(())) == as_sent(SECURITY_MODULE.finish(())) == ()
    assert SECURITY_MODULE.verify((), typed(())) == ()


def test_enforcing_that_is_there_is_reported_with_the_services_domains() -> None:
    assert notes("enforcing", selinux()) == ("lsm=enforcing: services ran as httpd: httpd_t",)
    assert notes("none", [content("lsm", NONE + "\n")]) == ()


@pytest.mark.parametrize(
    ("mode", "answers", "message"),
    [
        ("enforcing", selinux(modules=APPARMOR), "the kernel runs lockdown"),
        ("enforcing", selinux(enforce="0\n"), "selinux/enforce is 0"),
        ("enforcing", selinux(enforce=None), "selinux/enforce is missing"),
        ("enforcing", selinux(said="Permissive\n"), "getenforce says Permissive"),
        ("permissive", selinux(), "lsm=permissive did not take: getenforce says Enforcing"),
        ("enforcing", [*selinux(), content("selinux-enforce-end", "0")], "is 1, then 0"),
        ("enforcing", [*selinux(), started("db", None)], "the service db runs without a label"),
        ("none", [content("lsm", APPARMOR)], "lsm=none did not take"),
        ("none", [content("lsm", "lockdown,tomoyo")], "lsm=none did not take"),
        ("none", [content("lsm", None)], "the guest does not say"),
        ("enforcing", [], "did not answer to 'lsm'"),
    ],
)
def test_a_mode_that_did_not_take_fails_the_trial(
    mode: LsmMode, answers: list[dict[str, Any]], message: str
) -> None:
    with pytest.raises(TrialError, match=message):
        notes(mode, answers)


def test_apparmor_names_its_profiles_and_has_some() -> None:
    answers = [
        content("lsm", APPARMOR),
        ran("apparmor-load", ""),
        content("apparmor-enabled", "Y\n"),
        content("apparmor-profiles", "b (enforce)\na (complain)\n"),
    ]
    assert notes("apparmor", answers) == (
        "AppArmor has the profiles that Debian's packages bring: a (complain), b (enforce)",
    )
    answers[3] = content("apparmor-profiles", "")
    with pytest.raises(TrialError, match="enabled is Y, 0 profiles are loaded"):
        notes("apparmor", answers)


def denials(kinds: dict[str, int]) -> dict[str, Any]:
    return {"event": "counted", "name": "lsm-denials", "numbers": {}, "texts": kinds}


def test_denials_are_counted_and_the_commonest_shown() -> None:
    found = notes(
        "permissive",
        [
            *selinux(enforce="0", said="Permissive"),
            denials({"avc:  denied  { write } for": 1, "avc:  denied  { read } for x": 3}),
        ],
    )
    assert found[-1] == (
        "lsm=permissive: denials in the logs: 4, most of them 3 x avc:  denied  { read } for x"
        "; 1 x avc:  denied  { write } for"
    )
    kinds = {"avc: for path=pipe:[10]": 2, "avc: for path=pipe:[77]": 1, "avc: for x": 2}
    found = notes("enforcing", [*selinux(), denials(kinds)])
    assert found[-1].endswith(
        "denials in the logs: 5, most of them 3 x avc: for path=pipe:[…]; 2 x avc: for x"
    )
    assert notes("enforcing", [*selinux(), denials({})])[-1] == (
        "lsm=enforcing: no denials in the logs"
    )


def test_denials_that_the_probe_took_are_not_called_none() -> None:
    found = notes("enforcing", [*selinux(), denials({})], AuditDaemon())
    assert found[-1].endswith("were not counted")


def test_a_machine_that_runs_already_says_its_mode_without_programs() -> None:
    said = [content("lsm", SELINUX), content("selinux-enforce", "1")]
    ends = content("selinux-enforce-end", "0")
    assert notes("enforcing", said) == ()
    with pytest.raises(TrialError, match="did not take: /sys/fs/selinux/enforce is 1, then 0"):
        notes("enforcing", [*said, ends])

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from auditrules.model.rule import Rule
from hardcost.cli.output.export_file import require_controls
from hardcost.controls.control import (
    Control,
    Profile,
    combine_controls,
    comparable_part,
    of_profile,
    requirements_of,
)
from hardcost.errors import InputError, Problem
from hardcost.mechanisms import apply
from hardcost.mechanisms.audit import AuditDaemon, AuditRule
from hardcost.mechanisms.auditd import Auditd, AuditPlugin
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.lsm import Lsm
from hardcost.mechanisms.mount import MountOptions
from hardcost.mechanisms.registry import ALL
from hardcost.mechanisms.rsyslog import Rsyslog
from hardcost.mechanisms.service import Service
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.profiles.control_tables import ControlsTable, Resolver
from hardcost.study.read import read
from hardcost.toml.read import parse, validated
from tests.protocol.json_messages import as_sent


def resolved(text: str) -> tuple[tuple[Control, ...], list[tuple[int | None, str]]]:
    problems: list[Problem] = []
    file = parse(text.encode(), "f.toml")
    found = validated(file, ControlsTable, problems)
    assert found is not None
    resolver = Resolver(file, Path(), problems, lambda _: Profile("", "", "", ()))
    controls = resolver.controls(found.model).with_companions()
    placed = [(one.place.line if one.place else None, one.message) for one in problems]
    return controls, placed


def names(text: str) -> list[str]:
    controls, problems = resolved(text)
    assert problems == []
    return [control.name for control in controls]


def test_a_service_is_on_or_off_or_has_settings() -> None:
    assert names("rsyslog = true") == ["rsyslog.service"]
    assert names("rsyslog = false\nauditd = { enabled = false, freq = 1 }") == []
    assert names("fapolicyd = false\nscanner = false") == []
    assert names("rsyslog = { forward = true, rate-limit = true }") == [
        "rsyslog.service forward rate-limit=20000/600s"
    ]


def test_a_unit_of_a_running_machine_is_stopped_or_runs_with_files_of_its_own() -> None:
    text = """
    service."rsyslog.service" = "stopped"
    service."auditd.service" = "running"
    service."fapolicyd.service" = { files = { "/etc/fapolicyd/fapolicyd.conf" = "permissive = 1" } }
    """
    own = (("/etc/fapolicyd/fapolicyd.conf", "permissive = 1"),)
    assert resolved(text)[0] == (
        Service("rsyslog.service", running=False),
        Service("auditd.service"),
        Service("fapolicyd.service", files=own),
    )
    sent = as_sent(apply.requests(resolved(text)[0]))
    assert [(one["do"], one["name"], one["active"]) for one in sent] == [
        ("unit", "rsyslog.service", False),
        ("unit", "auditd.service", True),
        ("unit", "fapolicyd.service", True),
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('service."rsyslog.service" = "off"', '"running", "stopped" or a table'),
        ("service.rsyslog.service = true", "service.rsyslog"),
        ('service."-a b" = "stopped"', "is not a valid name"),
        ('service."a.service".files."etc/x" = ""', "is not a valid name"),
    ],
)
def test_what_is_no_state_of_a_unit_is_refused(text: str, message: str) -> None:
    problems: list[Problem] = []
    validated(parse(text.encode(), "f.toml"), ControlsTable, problems)
    assert any(message in one.message for one in problems), problems


def test_auditd_switches_audit_on_and_each_of_its_plug_ins_is_a_control() -> None:
    text = 'auditd = { flush = "sync", plugins = ["syslog", "syslog"], settings.q_depth = 9 }'
    assert resolved(text)[0] == (
        AuditDaemon(),
        Auditd("sync", 50, (("q_depth", "9"),)),
        AuditPlugin("syslog"),
    )


def test_the_duplicate_in_syslog_says_what_asks_for_it() -> None:
    controls, _ = resolved('auditd.plugins = ["syslog", "af_unix"]')
    assert [one.ids for one in controls if isinstance(one, AuditPlugin)] == [
        ("RHEL-09-652035",),
        (),
    ]


def test_rules_and_their_daemon_stand_together() -> None:
    assert names('auditd = true\naudit = { backlog_limit = 7, rules = ["-w /etc/a"] }') == [
        "auditd",
        "-w /etc/a",
        "auditd.service",
    ]


def test_mounts_and_the_security_module_are_controls() -> None:
    text = 'lsm = "enforcing"\n[mount]\n"/tmp" = ["noexec", "nosuid", "noexec"]\n"/home" = []\n'
    assert names(text) == ["lsm=enforcing", "mount /tmp noexec,nosuid"]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('\nlsm = "smack"', 2, "lsm has to be"),
        ('[mount]\n"/tmp" = ["noexce"]', 2, "mount./tmp has to be"),
        ('[mount]\n"tmp" = ["noexec"]', 2, "mount.tmp is not a valid name"),
        ('[mount]\n"/tmp" = "noexec"', 2, "mount./tmp has to be a list"),
        ("mount = 3", 1, "mount has to be a table"),
        ('scanner.paths = ["home"]', 1, "scanner.paths does not have the required form"),
        ("scanner.paths = []", 1, "scanner.paths is empty"),
        ('[auditd]\nflush = "later"', 2, "auditd.flush has to be"),
        ('auditd = { plugins = ["zos"] }', 1, "auditd.plugins has to be"),
        ('[auditd.settings]\n"q depth" = 1', 2, "auditd.settings"),
        ("rsyslog = 3", 1, "rsyslog has to be true, false or a table"),
        ("[rsyslog]\nratelimit = true", 2, "there is no key 'ratelimit' here"),
        ('[ids]\n"kernel.x=1" = ["A-1"]', 2, "there is no control named 'kernel.x=1' here"),
    ],
)
def test_a_mistake_is_reported_at_its_line(text: str, line: int, message: str) -> None:
    problems = resolved(text)[1]
    assert [(at, said[: len(message)]) for at, said in problems] == [(line, message)]


def test_ids_are_given_by_name_and_make_no_difference() -> None:
    text = """
sysctl = { "kernel.x" = 1 }
boot = ["quiet"]
lsm = "none"
[ids]
"kernel.x=1" = ["A-1", "B-2"]
quiet = ["A-2"]
"lsm=none" = ["A-3"]
"""
    controls, problems = resolved(text)
    assert problems == []
    assert [one.ids for one in controls if not isinstance(one, AuditDaemon)] == [
        ("A-1", "B-2"),
        ("A-2",),
        ("A-3",),
    ]
    assert controls == (Sysctl("kernel.x", "1"), BootParameter("quiet"), Lsm("none"))


def test_of_each_slot_the_last_one_holds() -> None:
    first, second = (
        of_profile(Profile("", "", "", controls))
        for controls in (
            (Lsm("none"), MountOptions("/a", ("nodev",)), MountOptions("/b", ("nodev",)), Auditd()),
            (MountOptions("/a", ("noexec",)), Lsm("enforcing"), Auditd("sync")),
        )
    )
    assert combine_controls([first, second]).controls == (
        Lsm("enforcing"),
        MountOptions("/a", ("noexec",)),
        MountOptions("/b", ("nodev",)),
        Auditd("sync"),
    )


def test_axes_configurations_and_the_base_take_the_same_keys(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text("""
title = "x"
workloads = ["syscalls"]
baseline = "none"
[[configuration]]
name = "none"
lsm = "none"
[base]
mount = { "/tmp" = ["noexec"] }
[[axis]]
name = "lsm"
rsyslog = true
[axis.levels.enforcing]
lsm = "enforcing"
[[axis]]
name = "audit"
switch = true
auditd.plugins = ["syslog"]
""")
    found = {one.name: [c.name for c in one.controls] for one in read(str(path)).configurations}
    assert found == {
        "none": ["lsm=none"],
        "lsm=enforcing": ["mount /tmp noexec", "rsyslog.service", "lsm=enforcing"],
        "lsm=enforcing audit": [
            "auditd",
            "mount /tmp noexec",
            "rsyslog.service",
            "lsm=enforcing",
            "auditd.service",
            "auditd plug-in syslog",
        ],
    }


def test_a_plug_in_goes_where_its_daemon_goes() -> None:
    whole = daemon, plugin, syslog = Auditd(), AuditPlugin("syslog"), Rsyslog()
    assert comparable_part((plugin, syslog), whole) == (syslog,)
    assert comparable_part(whole, whole) == whole
    assert requirements_of(plugin, whole) == (daemon,)
    assert requirements_of(syslog, whole) == ()


def test_a_security_module_is_compared_with_none() -> None:
    whole = (Lsm("enforcing"), Rsyslog())
    assert comparable_part((Rsyslog(),), whole) == (Rsyslog(), Lsm("none"))
    assert comparable_part((Rsyslog(),), (Rsyslog(),)) == (Rsyslog(),)


def test_the_packages_of_a_result_are_those_of_its_services_each_once() -> None:
    controls = (AuditDaemon(), Sysctl("a.b", "1"), MountOptions("/a", ()), Rsyslog(), Auditd())
    assert apply.packages((*controls, AuditPlugin("syslog"))) == ("rsyslog", "auditd")


def test_services_are_stopped_in_the_opposite_order_and_counted_last() -> None:
    controls = (AuditDaemon(), Auditd(), AuditPlugin("syslog"), Rsyslog(forward=True))
    before = [one["name"] for one in as_sent(apply.requests(controls)) if one["do"] == "start"]
    asked = {"stop", "run", "await", "count"}
    after = [one["name"] for one in as_sent(apply.finish(controls)) if one["do"] in asked]
    assert before == ["rsyslog-receiver", "rsyslog", "auditd"]
    assert after == [
        "audit-mark",
        "audit-logged",
        "audit-drain",
        "audit-end",
        "auditd",
        "syslog-end",
        "syslog-end in /var/log/messages",
        "syslog-end in /var/log/received",
        "rsyslog",
        "rsyslog-receiver",
        "audit-log",
        "syslog-totals",
        "syslog-received",
    ]


@pytest.mark.parametrize(
    ("controls", "message"),
    [
        ((AuditPlugin("syslog"),), "plug-in syslog is on, and auditd is not"),
        (
            (AuditDaemon(), Auditd(settings=(("disk_full_action", "HALT"),))),
            "disk_full_action = HALT would end the guest",
        ),
        ((Lsm("none"), Lsm("apparmor")), "both lsm=none and lsm=apparmor"),
    ],
)
def test_what_can_not_be_applied_is_the_users_error(
    controls: tuple[Control, ...], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        as_sent(apply.requests(controls))


def test_the_table_of_keys_is_that_of_the_mechanisms() -> None:
    page = Path(__file__).parents[2] / "docs" / "whole-systems.md"
    before, _, after = re.split(r"(?<=<!-- mechanisms -->\n)|(?=<!-- end -->)", page.read_text())
    head = "| key | is | verified in each trial by |\n| --- | --- | --- |\n"
    table = head + "".join(
        f"| {one.toml} | {(type(one).__doc__ or '').partition('.')[0]} | {one.verified_by} |\n"
        for one in ALL
        if one.toml
    )
    if "HARDCOST_REWRITE" in os.environ:
        page.write_text(before + table + after)
    assert page.read_text() == before + table + after


def test_no_two_mechanisms_have_a_key_in_common() -> None:
    keys = [key for one in ALL for key in one.keys.model_fields]
    assert len(keys) == len(set(keys))


def test_the_file_of_each_mechanism_has_a_test_of_its_name() -> None:
    files = {type(one).__module__.rpartition(".")[2] for one in ALL}
    assert all(Path(__file__).with_name(f"test_{file}.py").exists() for file in files)


def test_every_control_has_a_name_and_a_mechanism() -> None:
    controls = (
        AuditDaemon(),
        AuditRule(Rule("-w /x")),
        Sysctl("a.b", "1"),
        BootParameter("audit=0"),
    )
    assert [(control.mechanism, control.name) for control in controls] == [
        ("audit", "auditd"),
        ("audit", "-w /x"),
        ("sysctl", "a.b=1"),
        ("boot", "audit=0"),
    ]


@pytest.mark.parametrize("verb", [one.export_verb for one in ALL if one.export_verb])
def test_a_profile_with_nothing_for_a_form_is_refused(verb: str) -> None:
    (mechanism,) = (one for one in ALL if one.export_verb == verb)
    empty = Profile("p", "p", "", (Lsm("none"),))
    with pytest.raises(InputError, match="that can be exported"):
        require_controls(mechanism.export(empty), empty)

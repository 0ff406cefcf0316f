"""What is in force is priced: settings by the lists, audit rules together, by a mix of calls."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from hardcost.errors import InputError
from hardcost.library.here import HereRequest, Look, here
from hardcost.library.price import PriceRequest, price
from hardcost.mechanisms.audit import AuditRule
from hardcost.model.finding.here import HereFinding, HereItem
from hardcost.profiles import catalogue, toml_text
from hardcost.show.exports.in_force import markdown_text
from hardcost.show.here import here_lines
from hardcost.show.site.hardening import hardening_page

SHADOW = "-w /etc/shadow -p wa -k id"
CHMOD = "-a always,exit -F arch=b64 -S chmod -F key=perm"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for path, text in {
        "etc/audit/rules.d/a.rules": f"{SHADOW}\n{CHMOD}\n",
        "etc/sysctl.d/a.conf": "kernel.kptr_restrict = 2\nnet.core.somaxconn = 4096\n",
        "etc/default/grub": 'GRUB_CMDLINE_LINUX="init_on_free=1"\n',
        "etc/selinux/config": "SELINUX=enforcing\n",
        "etc/fstab": "/dev/b /tmp ext4 noexec 0 0\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return tmp_path


def item(found: HereFinding, name: str) -> HereItem:
    (one,) = [one for one in found.items if one.name == name]
    return one


def test_a_setting_has_the_price_of_the_list_and_its_place(root: Path) -> None:
    (root / "etc/audit/rules.d/a.rules").unlink()  # its records are dearer by the setting
    found = here(HereRequest(root=root))
    one = item(found, "init_on_free=1")
    (priced,) = price(PriceRequest(("init_on_free=1",), kernel="6.1")).controls
    (kernel,) = priced.kernels
    most = next(call for call in kernel.calls if str(call.workload) == "syscalls")
    assert (one.known, one.most, str(one.place)) == ("measured", most.metric, "/etc/default/grub:1")
    assert one.grows == pytest.approx(most.share)
    assert one.share is not None
    assert 0 < one.share < most.share  # the mean over calls
    assert one.id == "boot-parameter:init_on_free=1"


def test_what_has_no_price_says_why(root: Path) -> None:
    found = here(HereRequest(root=root))
    for name in ("net.core.somaxconn=4096", "mount /tmp noexec"):
        assert item(found, name).share is None
        assert item(found, name).why


def test_all_rules_together_pay_once_for_being_there(root: Path) -> None:
    both = here(HereRequest(root=root))
    (root / "etc/audit/rules.d/a.rules").write_text(f"{SHADOW}\n")
    one = here(HereRequest(root=root))
    assert both.first_rule == pytest.approx(one.first_rule, rel=0.01)
    assert 0 < one.first_rule < one.share < both.share


def test_the_sum_is_that_of_settings_and_rules(root: Path) -> None:
    whole = here(HereRequest(root=root))
    own = [one for one in whole.items if not one.by_default]
    added = sum(one.share or 0.0 for one in own) + whole.first_rule
    assert whole.share == pytest.approx(added)
    grown = {one.name: one.cost for one in whole.calls}
    assert grown["chmod"] > grown["null"] > 0


def test_a_mix_of_one_call_counts_that_call_alone(root: Path) -> None:
    found = here(HereRequest(root=root, histogram={("b64", 90): 5.0}))  # chmod
    (chmod,) = [one for one in found.calls if one.name == "chmod"]
    assert found.share == pytest.approx(chmod.share)
    assert (found.mix_by, found.covered) == ("file", 1.0)


@pytest.mark.parametrize(
    ("wanted", "said"),
    [
        ({"sample": 0}, "not within 1 to 3600 s"),
        ({"sample": 3601}, "not within 1 to 3600 s"),
        ({"strace": 0}, "no number of a process"),
        ({"sample": 1, "histogram": {("b64", 0): 1.0}}, "counts already"),
    ],
)
def test_counting_that_can_t_be_is_refused(wanted: dict[str, Any], said: str) -> None:
    with pytest.raises(InputError, match=said):
        here(HereRequest(**wanted))


def test_a_root_makes_no_calls(root: Path) -> None:
    with pytest.raises(InputError, match="does not run"):
        here(HereRequest(root=root, sample=1))


def test_what_a_profile_asks_for_and_is_not_in_force_is_named(root: Path) -> None:
    wanted = root / "wanted.toml"
    wanted.write_text('boot = ["init_on_free=1", "slab_nomerge"]\n[sysctl]\n"kernel.sysrq" = "0"\n')
    found = here(HereRequest(root=root, against=str(wanted)))
    assert {one.name: one.share for one in found.missing} == {
        "slab_nomerge": 0.0,
        "kernel.sysrq=0": 0.0,
    }


def test_what_was_set_is_a_profile_that_can_be_read_again(root: Path) -> None:
    profile = Look(HereRequest(root=root)).profile
    again = catalogue.of_text(toml_text.text(profile).encode(), "this.toml")
    assert [one.name for one in again.controls] == [one.name for one in profile.controls]
    names = {one.name for one in again.controls}
    assert {SHADOW, CHMOD, "init_on_free=1", "lsm=enforcing", "kernel.kptr_restrict=2"} <= names
    assert not any(one.name.startswith("init_on_alloc") for one in again.controls)  # a default


def test_nothing_set_makes_no_profile(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no system"):
        here(HereRequest(root=tmp_path))
    (tmp_path / "etc").mkdir()
    with pytest.raises(InputError, match="nothing was set"):
        _ = Look(HereRequest(root=tmp_path)).profile
    with pytest.raises(InputError, match="is no folder"):
        here(HereRequest(root=tmp_path / "none"))


def test_what_could_not_be_checked_is_not_called_missing(root: Path) -> None:
    """Without a configuration of its kernel no option is known to be off."""
    found = here(HereRequest(root=root, against="kspp"))
    assert found.unjudged > 50
    assert not any(one.name.startswith("SLUB_DEBUG_ON") for one in found.missing)
    (root / "boot").mkdir()
    (root / "boot" / "config-6.1.0-1-amd64").write_text("CONFIG_SLUB_DEBUG_ON=y\n")
    known = here(HereRequest(root=root, against="kspp"))
    assert known.unjudged == 0
    assert len(known.missing) > 10


@pytest.mark.parametrize("off", ["-e 0", "audit=0"])
def test_audit_that_is_switched_off_costs_nothing(root: Path, off: str) -> None:
    if off == "audit=0":
        (root / "etc/default/grub").write_text('GRUB_CMDLINE_LINUX="audit=0"\n')
    else:
        (root / "etc/audit/rules.d/z.rules").write_text("-e 1\n-e 0\n")
    found = here(HereRequest(root=root))
    assert found.first_rule == 0
    assert not [one for one in found.items if one.kind == "audit rule"]
    assert any("audit is switched off" in note for note in found.notes)


def test_the_answer_comes_first(root: Path) -> None:
    lines = [line for _, line in here_lines(here(HereRequest(root=root)))]
    assert lines[0].startswith("Estimate: the 2 audit rules and 5 settings that harden")
    assert "Instructions are not time" in lines[0]
    text = "\n".join(lines)
    assert "set in /etc/default/grub:1; measured" in text
    assert "predicted for Linux 6.1.0" in text


def test_a_machine_without_anything_says_so(tmp_path: Path) -> None:
    (tmp_path / "etc").mkdir()
    lines = [line for _, line in here_lines(here(HereRequest(root=tmp_path)))]
    assert lines[0].startswith("Nothing that hardens was set on")


def test_cheaper_rules_record_the_same_and_are_in_the_profile(root: Path) -> None:
    (root / "etc/audit/rules.d/a.rules").write_text(
        "-a always,exit -F arch=b64 -S chmod -F auid>=1000 -F exit=-EACCES -k perm\n"
        "-a always,exit -F arch=b64 -S fchmod -F auid>=1000 -F exit=-EACCES -k perm\n"
    )
    look = Look(HereRequest(root=root, cheaper=True))
    found, cheaper = look.finding, look.finding.cheaper
    assert cheaper is not None
    assert (cheaper.rules, cheaper.into) == (2, 1)
    assert cheaper.saves > 0
    assert cheaper.share == pytest.approx(found.share - cheaper.saves)
    assert cheaper.assumptions
    rules = [one for one in look.profile.controls if isinstance(one, AuditRule)]
    assert len(rules) == 1
    # What is written costs what was said.
    written = root / "cheaper.toml"
    written.write_text(toml_text.text(look.profile))
    (root / "etc/audit/rules.d/a.rules").write_text(f"{rules[0].name}\n")
    assert here(HereRequest(root=root)).share == pytest.approx(cheaper.share)
    lines = [line for _, line in here_lines(found)]
    assert any(line.startswith("With cheaper audit rules: ") for line in lines)


def test_without_rules_none_are_cheaper(root: Path) -> None:
    (root / "etc/audit/rules.d/a.rules").unlink()
    look = Look(HereRequest(root=root, cheaper=True))
    assert look.finding.cheaper is None
    assert "init_on_free=1" in {one.name for one in look.profile.controls}


def test_what_makes_records_dearer_pays_for_it(root: Path) -> None:
    """A setting that makes the writing of records dearer adds that where rules write some."""
    dear = item(here(HereRequest(root=root)), "init_on_free=1")
    (root / "etc/audit/rules.d/a.rules").write_text(f"{SHADOW}\n")  # nothing is recorded
    plain = item(here(HereRequest(root=root)), "init_on_free=1")
    assert (dear.most, plain.most) == ("chmod", "access")
    assert dear.share is not None
    assert plain.share is not None
    assert dear.share > plain.share
    assert "audit records become 5.8% dearer" in dear.note
    assert not plain.note


def test_a_rule_has_the_cost_of_the_records_that_it_asks_for(root: Path) -> None:
    found = here(HereRequest(root=root))
    rule, watch = item(found, CHMOD), item(found, SHADOW)
    assert rule.share is not None
    assert 0 < rule.records < rule.share
    assert watch.records == 0
    assert rule.most == "chmod"


def test_audit_that_is_on_is_a_cost_of_its_own(root: Path) -> None:
    on = item(here(HereRequest(root=root)), "audit switched on")
    (root / "etc/default/grub").write_text('GRUB_CMDLINE_LINUX="init_on_free=1 audit=1"\n')
    found = here(HereRequest(root=root))
    assert item(found, "audit=1").share == pytest.approx(on.share)
    assert "audit switched on" not in {one.name for one in found.items}


WANTED = """\
boot = ["random.trust_cpu=on"]
[auditd]
flush = "data"
freq = 20
settings = { num_logs = "3" }
"""


def test_a_daemon_s_settings_and_words_that_no_list_knows_are_found(root: Path) -> None:
    wanted = root / "wanted.toml"
    wanted.write_text(WANTED)
    names = {one.name for one in here(HereRequest(root=root, against=str(wanted))).missing}
    assert len(names) == 2
    (root / "etc/default/grub").write_text('GRUB_CMDLINE_LINUX="random.trust_cpu=on"\n')
    (root / "etc/audit/auditd.conf").write_text("flush = DATA\nfreq = 20\nnum_logs = 3\nx = y\n")
    wants = root / "etc/systemd/system/multi-user.target.wants"
    wants.mkdir(parents=True)
    (wants / "auditd.service").touch()
    plugins = root / "etc/audit/plugins.d"
    plugins.mkdir()
    (plugins / "syslog.conf").write_text("active = yes\n")
    (plugins / "af_unix.conf").write_text("active = no\n")
    found = here(HereRequest(root=root, against=str(wanted)))
    assert found.missing == ()
    auditd = item(found, "auditd")
    assert (auditd.note, str(auditd.place)) == (
        "flush data, freq 20, plug-in syslog",
        "/etc/audit/auditd.conf",
    )
    (root / "etc/audit/auditd.conf").write_text("flush = DATA\nfreq = 20\nnum_logs = 4\n")
    (missing,) = here(HereRequest(root=root, against=str(wanted))).missing
    assert "auditd" in missing.name


def test_what_several_settings_replace_counts_once(root: Path) -> None:
    """page_poison=1 and slub_debug=P each save init_on_alloc=1 in their single prices."""
    (root / "etc/default/grub").write_text(
        'GRUB_CMDLINE_LINUX="page_poison=1 slub_debug=FZP init_on_free=1"\n'
    )
    found = here(HereRequest(root=root))
    once = item(found, "page_poison=1 and slub_debug=FZP replace init_on_alloc=1 once")
    free = item(found, "page_poison=1 replaces init_on_free=1")
    assert once.share is not None
    assert once.share > 0
    assert free.share == pytest.approx(-(item(found, "init_on_free=1").share or 0.0))
    (price_alone,) = price(PriceRequest(("init_on_alloc=1",), kernel="6.1")).controls
    of_stat = next(it for it in price_alone.kernels[0].calls if it.metric == "stat")
    together = {one.name: one.cost for one in found.calls}["stat"]
    (root / "etc/default/grub").write_text('GRUB_CMDLINE_LINUX="page_poison=1 init_on_free=1"\n')
    poisoned = {one.name: one.cost for one in here(HereRequest(root=root)).calls}["stat"]
    (debug,) = price(PriceRequest(("slub_debug=FZP",), kernel="6.1")).controls
    of_debug = next(it for it in debug.kernels[0].calls if it.metric == "stat")
    assert together - poisoned == pytest.approx(of_debug.cost + of_stat.cost)


def test_every_form_says_what_cheaper_rules_save(root: Path) -> None:
    twins = (
        f"-a always,exit -F arch=b64 -S {one} -F exit=-EACCES -k p" for one in ("chmod", "open")
    )
    (root / "etc/audit/rules.d/a.rules").write_text("\n".join(twins))
    found = here(HereRequest(root=root, cheaper=True))
    for text in (markdown_text(found), hardening_page(found)):
        assert "With cheaper audit rules" in text

"""What a policy accepts is shown and counted, and no limit is for it."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from auditrules.model.location import Location
from hardcost.errors import InputError
from hardcost.library.here import HereRequest, here
from hardcost.library.here_policy import Acceptance, HerePolicy, apply_policy, here_policy
from hardcost.model.finding.here import HereFinding
from hardcost.show.here import here_lines

TODAY = date(2026, 6, 30)
SELINUX = "security-module:SELinux, enforcing"
RULES = (
    "audit-rule:-w /etc/shadow -p wa -k id",
    "audit-rule:-a always,exit -F arch=b64 -S chmod -F key=perm",
)
FREE = "sysctl:kernel.kptr_restrict=2"


@pytest.fixture
def found(tmp_path: Path) -> HereFinding:
    for path, text in {
        "etc/audit/rules.d/a.rules": "".join(f"{one.partition(':')[2]}\n" for one in RULES),
        "etc/sysctl.d/a.conf": "kernel.kptr_restrict = 2\nnet.core.somaxconn = 4096\n",
        "etc/default/grub": 'GRUB_CMDLINE_LINUX="init_on_free=1"\n',
        "etc/selinux/config": "SELINUX=enforcing\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    return here(HereRequest(root=tmp_path))


def policy(*ids: str, until: date | None = None) -> HerePolicy:
    place = Location("p.toml", 1)
    return HerePolicy(tuple(Acceptance(one, f"for {one}", until, place) for one in ids))


def share(found: HereFinding, name: str) -> float:
    (one,) = [one for one in found.items if one.id == name]
    return one.share or 0.0


def text(found: HereFinding) -> str:
    return "\n".join(line for _, line in here_lines(found))


def test_what_is_accepted_is_counted_and_marked(found: HereFinding) -> None:
    after = apply_policy(found, policy(SELINUX, FREE), TODAY)
    assert after.share == found.share
    assert after.not_accepted == pytest.approx(found.share - share(found, SELINUX))
    marked = {one.id: one.accepted for one in after.items if one.accepted is not None}
    assert marked == {SELINUX: f"for {SELINUX}", FREE: f"for {FREE}"}
    assert "; accepted" in text(after)
    assert f"SELinux, enforcing: for {SELINUX}" in text(after)
    assert "not every audit rule" not in text(after)  # no rule is accepted


def test_without_an_entry_all_is_not_accepted(found: HereFinding) -> None:
    after = apply_policy(found, HerePolicy(()), TODAY)
    assert after.not_accepted == found.share
    assert "Nothing that adds to this is accepted." in text(after)


def test_a_day_is_the_last_one(found: HereFinding) -> None:
    assert apply_policy(found, policy(SELINUX, until=TODAY), TODAY).notes == found.notes
    late = apply_policy(found, policy(SELINUX, until=date(2026, 6, 29)), TODAY)
    assert late.not_accepted == found.share
    assert late.notes[-1] == f"p.toml:1: accepted until 2026-06-29, and not any more: {SELINUX}"


@pytest.mark.parametrize(
    ("wanted", "hint"),
    [
        ("sysctl:kernel.sysrq=0", ""),
        ("sysctl:kernel.kptr_restrict=3", f"; this is here: {FREE}"),
        ("kernel.kptr_restrict=2", f"; this is here: {FREE}"),
        ("audit-rule:-a always,exit -F arch=b32 -S chmod", ""),
    ],
)
def test_an_id_that_nothing_has_is_named(found: HereFinding, wanted: str, hint: str) -> None:
    after = apply_policy(found, policy(wanted), TODAY)
    assert after.notes[-1].endswith(f" the id {wanted}{hint}")


def test_what_rules_add_together_is_accepted_with_the_last_of_them(found: HereFinding) -> None:
    one = apply_policy(found, policy(RULES[0]), TODAY)
    assert one.not_accepted == pytest.approx(found.share - share(found, RULES[0]))
    assert not one.rules_accepted
    assert "not accepted, since not every audit rule is" in text(one)
    both = apply_policy(found, policy(*RULES), TODAY)
    own = sum(share(found, rule) for rule in RULES)
    assert both.rules_accepted
    assert both.not_accepted == pytest.approx(found.share - own - found.first_rule)


def test_where_all_is_accepted_exactly_0_is_left(found: HereFinding) -> None:
    every = apply_policy(found, policy(*(one.id for one in found.items)), TODAY)
    assert every.not_accepted == 0


@pytest.mark.parametrize(
    ("file", "problem"),
    [
        ('[[accept]]\nid = "a"\n', "'reason' is missing"),
        ('[[accept]]\nid = "a"\nreason = " "\n', "a text is blank"),
        ('[[accept]]\nid = "a"\nreason = "r"\nuntil = "2026-01-01"\n', "without quotes"),
        ('[[accept]]\nid = "a"\nreason = "r"\nuntil = 20260101\n', "is no date"),
        ('[[accept]]\nid = "a"\nreason = "r"\nuntil = 2026-01-01T00:00:00Z\n', "is no date"),
        ('[[accept]]\nid = "a"\nreason = "r"\nuntl = 2026-01-01\n', "no key 'untl'"),
        ('[[accept]]\nid = "a"\nreason = "r"\n' * 2, "accepted already, in .*p.toml:1"),
        ("[[accept]", "this is not TOML"),
        ("a.b." * 40 + "c = 1\n", "nested too deeply"),
    ],
)
def test_a_mistake_in_a_policy_is_reported_with_its_line(
    tmp_path: Path, file: str, problem: str
) -> None:
    path = tmp_path / "p.toml"
    path.write_text(file)
    with pytest.raises(InputError, match=problem) as raised:
        here_policy(path)
    assert all(str(one.place).startswith(str(path)) for one in raised.value.problems)


def test_a_policy_is_read_with_its_lines(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(
        '# ours\n[[accept]]\nid = "a"\nreason = " why "\nuntil = 2027-01-31\n'
        '[[accept]]\nid = "b"\nreason = "r"\n'
    )
    assert here_policy(path).accepted == (
        Acceptance("a", "why", date(2027, 1, 31), Location(str(path), 2)),
        Acceptance("b", "r", None, Location(str(path), 6)),
    )

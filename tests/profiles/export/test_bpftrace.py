"""Scripts for bpftrace: the same for every profile, beside a page that lists its keys."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from markdown_it import MarkdownIt

from auditrules.model.rule import Rule
from hardcost.errors import InputError
from hardcost.mechanisms.audit import AuditRule
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.profiles.export import bpftrace
from tests.mechanisms.test_export import profile
from tests.show.exports.gates import ANY_TEXT, HOSTILE


def test_a_profile_without_audit_rules_is_refused() -> None:
    with pytest.raises(InputError, match="no audit rules to count for"):
        bpftrace.scripts(profile(Sysctl("kernel.kptr_restrict", "2")))


def test_each_script_says_how_to_run_it_and_ends_by_itself() -> None:
    made = bpftrace.scripts(profile(AuditRule(Rule("-w /x -k y", key="y"))))
    names = [name for name in made if name.endswith(".bt")]
    assert names == ["calls.bt", "filter.bt", "records.bt"]
    for name in names:
        assert f"bpftrace {name} > " in made[name]
        assert f"bpftrace {name} > " in made["README.md"]
        assert re.search(r"^interval:s:60 \{ exit\(\); \}$", made[name], re.MULTILINE)


@ANY_TEXT
@given(key=HOSTILE.filter(bool))
def test_any_key_is_text_in_the_page_and_in_no_script(key: str) -> None:
    plain = bpftrace.scripts(profile(AuditRule(Rule("-w /x -k y", key="y"))))
    made = dict(bpftrace.scripts(profile(AuditRule(Rule("-w /x", key=key)))))
    page = MarkdownIt("commonmark").parse(made.pop("README.md"))
    shown = key if key.isprintable() else ascii(key)
    assert page[-1].content == f"- {shown}\n"
    assert made == {name: text for name, text in plain.items() if name != "README.md"}

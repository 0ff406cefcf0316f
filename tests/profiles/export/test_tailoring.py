from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from lxml import etree

from hardcost.controls.control import Control, Profile
from hardcost.errors import InputError
from hardcost.mechanisms.mount import MountOptions
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.profiles.decision import Decision
from hardcost.profiles.decision_entry import GivenUp
from hardcost.profiles.export import tailoring
from hardcost.profiles.export.tailoring import Tailored
from hardcost.profiles.importers.scap.datastream import selection_of
from tests.profiles.importers.scap.test_rules import OFF, PREFIX, profile, rule, stream

NOW = datetime(2026, 11, 23, 12, 0, tzinfo=UTC)
XCCDF = "{http://checklists.nist.gov/xccdf/1.2}"
CCE = '<x:ident system="https://nvd.nist.gov/cce/index.cfm">CCE-1-1</x:ident>'
SRG = "<x:reference>SRG-OS-000001-GPOS-00001</x:reference>"
KEPT = Sysctl("kernel.y", "1", ids=("c",))


def datastream(folder: Path) -> Path:
    path = folder / "ds.xml"
    rules = (rule("a", "true", SRG), rule("b", "true", CCE + SRG), rule("c", "true"))
    path.write_text(stream(profile("p"), *rules, rule("off", "true", attributes=OFF)))
    return path


def given_up(control: str, *ids: str, reason: str = "") -> GivenUp:
    return GivenUp(control=control, ids=ids, metric="open", cost=5, unit="insn/op", reason=reason)


def tailored(path: Path, *lost: GivenUp, kept: tuple[Control, ...] = (KEPT,)) -> Tailored:
    decision = Decision(Profile("p", "p", "", kept), lost)
    return tailoring.tailoring_of(path, "p", decision, NOW)


def read_back(path: Path, made: Tailored) -> list[str]:
    file = path.with_name("t.xml")
    file.write_text(made.text)
    found = selection_of(path, made.profile, file)
    assert found.notes == ()
    return [one.name for one in found.rules]


def test_what_is_given_up_is_unselected_and_the_rest_stays(tmp_path: Path) -> None:
    path = datastream(tmp_path)
    made = tailored(path, given_up("-w /a", "a", "SRG-OS-000001-GPOS-00001"))
    assert made.unselected == ("a",)
    assert (made.left, made.notes) == ((), ())
    assert read_back(path, made) == ["b", "c"]


def test_a_rule_may_be_named_by_its_cce_number(tmp_path: Path) -> None:
    assert tailored(datastream(tmp_path), given_up("x", "CCE-1-1")).unselected == ("b",)


def test_all_rules_that_require_a_control_are_unselected(tmp_path: Path) -> None:
    path = datastream(tmp_path)
    assert read_back(path, tailored(path, given_up("mount /tmp", "a", "b"))) == ["c"]


def test_what_has_no_rule_is_listed_with_the_reason(tmp_path: Path) -> None:
    lost = (
        given_up("x", "a"),
        given_up("no ids"),
        given_up("shared", "SRG-OS-000001-GPOS-00001"),
        given_up("strange", "CCE-9-9"),
        given_up("off", "off"),
    )
    assert tailored(datastream(tmp_path), *lost).left == (
        ("no ids", "the decision does not say what the benchmark calls it (ids)"),
        ("shared", "the decision does not say what the benchmark calls it (ids)"),
        ("strange", "the datastream has no rule of its ids"),
        ("off", "p does not select off"),
    )


def test_a_kept_control_that_an_unselected_rule_requires_is_noted(tmp_path: Path) -> None:
    both = MountOptions("/tmp", ("nodev",), ids=("a", "b"))  # noqa: S108  (a mount, not a file)
    made = tailored(datastream(tmp_path), given_up("x", "a"), kept=(both,))
    (note,) = made.notes
    assert note.startswith("mount /tmp nodev is kept, but a, which is unselected, requires it")


def test_a_decision_that_gives_up_nothing_of_the_profile_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="gives up nothing that the datastream's profile selects"):
        tailored(datastream(tmp_path), given_up("x", "zz"))


HOSTILE = st.one_of(
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=30),
    st.sampled_from(["]]>", "<!--", "&lt;", "\x00", "\x1b", "a\nb", "\ufffe", '"', "</x:remark>"]),
)


@settings(
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(HOSTILE, HOSTILE)
def test_hostile_names_and_reasons_stay_text(tmp_path: Path, control: str, reason: str) -> None:
    path = datastream(tmp_path)
    made = tailored(path, given_up(control, "a", reason=reason))
    root = etree.fromstring(made.text.encode())
    (select,) = root.iter(f"{XCCDF}select")
    (remark,) = select
    assert (select.get("idref"), len(remark)) == (f"{PREFIX}rule_a", 0)
    text = f"{control}: +5 insn/op on open ({reason})"
    assert remark.text == (text if text.isprintable() else ascii(text)[1:-1])

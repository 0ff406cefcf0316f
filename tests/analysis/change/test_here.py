"""Two answers joined: what was added, removed or changed, and figures that don't compare."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from hardcost.analysis.change.here import compare_answers
from hardcost.library.here import HereRequest, here
from hardcost.model.finding.here import HereFinding, HereItem
from hardcost.model.finding.here_comparison import HereComparison
from hardcost.show.exports.here_comparison import comparison_markdown
from hardcost.show.here_comparison import comparison_lines

ASSUMED = "an assumed mix"


def item(name: str, share: float | None, **more: Any) -> HereItem:  # noqa: ANN401  (fields)
    made = HereItem(id=f"sysctl:{name}", kind="sysctl", name=name, share=share)
    if share is None:
        return replace(made, why="no list", **more)
    return replace(made, known="measured", **more)


def answer(*items: HereItem, **more: Any) -> HereFinding:  # noqa: ANN401  (fields)
    made = HereFinding(
        machine="web",
        words="",
        kernel="6.1.0-57-amd64",
        priced_on="6.1",
        predicted_on="6.1",
        mix=ASSUMED,
        mix_by="assumed",
        covered=0.5,
        share=sum(one.share or 0.0 for one in items if not one.by_default),
        calls=(),
        items=items,
    )
    return replace(made, **more)


def text(found: HereComparison) -> str:
    return "\n".join(line for _, line in comparison_lines(found))


def test_what_one_answer_has_alone_is_added_or_removed_the_dearest_first() -> None:
    found = compare_answers(
        answer(item("same", 0.1), item("gone", 0.02)),
        answer(item("free", 0.0), item("dear", 0.3), item("x", None), item("same", 0.1)),
    )
    assert [one.name for one in found.added] == ["dear", "free", "x"]
    assert [one.name for one in found.removed] == ["gone"]
    assert not found.repriced
    assert found.difference == pytest.approx(0.28)
    lines = [line for _, line in comparison_lines(found)]
    assert lines[0] == (
        "Estimate: the hardening of web made its system calls execute 12% more instructions (not"
        " time), and makes them execute 40% more: 28.0 percentage points more, averaged over"
        f" {ASSUMED}."
    )
    assert "30%: dear (measured)" in lines
    assert "not known: x (no list)" in lines


def test_a_price_that_is_not_known_is_never_0() -> None:
    found = compare_answers(answer(item("a", None), item("b", 0.0)), answer(item("a", 0.0)))
    (one,) = found.repriced
    assert (one.before, one.after) == (None, 0.0)
    assert "not known before, 0.0% now: a" in text(found)
    back = compare_answers(answer(item("a", 0.0)), answer(item("a", None)))
    assert "0.0% before, not known now: a (no list)" in text(back)
    assert not compare_answers(answer(item("a", None)), answer(item("a", None))).repriced


def test_what_becomes_a_default_leaves_the_sum() -> None:
    counted, default = item("a", 0.2), item("a", 0.2, by_default=True)
    gone = compare_answers(answer(counted), answer(default))
    assert [one.name for one in gone.became_default] == ["a"]
    assert gone.difference == pytest.approx(-0.2)
    came = compare_answers(answer(default), answer(counted))
    assert [one.name for one in came.no_longer_default] == ["a"]
    assert not any((came.added, came.removed, came.repriced, came.became_default))
    assert "Counted now, since it is no default any more (1):" in text(came)


def test_a_second_item_of_one_id_is_added() -> None:
    found = compare_answers(answer(item("a", 0.1)), answer(item("a", 0.1), item("a", 0.1)))
    assert len(found.added) == 1
    assert not found.repriced


def test_the_same_answer_twice_changed_nothing() -> None:
    one = answer(item("a", 0.1), item("b", None))
    assert "Nothing was added or removed, and no cost changed." in text(compare_answers(one, one))
    assert "no cost changed" in comparison_markdown(compare_answers(one, one))


def test_figures_of_other_kernels_or_mixes_don_t_compare() -> None:
    before = answer(item("a", 0.1))
    others: tuple[dict[str, Any], ...] = (
        {"priced_on": "7.3"},
        {"mix": "the mix that was given", "mix_by": "file"},
    )
    for more in others:
        found = compare_answers(before, replace(before, **more))
        first, second = (line for _, line in list(comparison_lines(found))[:2])
        assert first.startswith("The figures don't compare: ")
        assert "percentage points" not in second
        assert "don't compare" in comparison_markdown(found)
    assert not compare_answers(before, replace(before, kernel="6.1.1")).incomparable


def test_two_mixes_that_were_counted_may_differ() -> None:
    counted = answer(mix="the mix that was given", mix_by="file")
    assert "don't say whether these were the same" in text(compare_answers(counted, counted))


def test_what_one_could_not_look_at_is_said() -> None:
    blind = answer(unseen=("audit rules: only root may read them", "both"))
    found = compare_answers(blind, answer(item("r", 0.1), unseen=("both",)))
    assert found.unseen_before == ("audit rules: only root may read them",)
    said = text(found)
    assert said.index("Checked now only, so perhaps there before:") < said.index("Added")
    assert "audit rules" in comparison_markdown(found)


def test_two_machines_are_named() -> None:
    found = compare_answers(answer(item("a", 0.1)), answer(item("a", 0.1), machine="db"))
    assert "10% more instructions (not time) on web, and 10% more on db: the same" in text(found)


def test_what_is_not_accepted_is_said_where_both_know_it() -> None:
    one = answer(item("a", 0.1), not_accepted=0.1)
    found = compare_answers(one, answer(item("a", 0.1, accepted="r"), not_accepted=0.0))
    assert "Not accepted: 10% before, 0.0% now." in text(found)
    assert "Not accepted" not in text(compare_answers(answer(), one))


def test_changes_add_up_to_the_difference(tmp_path: Path) -> None:
    """Of two looks at one machine: shared costs of audit rules are part of it."""

    def look(rules: str, sysctl: str, boot: str) -> HereFinding:
        for path, lines in {
            "etc/audit/rules.d/a.rules": rules,
            "etc/sysctl.d/a.conf": sysctl,
            "etc/default/grub": f'GRUB_CMDLINE_LINUX="{boot}"\n',
        }.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(lines)
        return here(HereRequest(root=tmp_path))

    before = look("", "kernel.kptr_restrict = 2\n", "init_on_free=1")
    rules = "-w /etc/shadow -p wa -k id\n-a always,exit -F arch=b64 -S chmod -F key=perm\n"
    after = look(rules, "kernel.kptr_restrict = 1\n", "slub_debug=FZ")
    found = compare_answers(before, after)
    added = sum(one.share or 0.0 for one in found.added if not one.by_default)
    removed = sum(one.share or 0.0 for one in found.removed if not one.by_default)
    together = after.first_rule
    assert together > 0
    assert found.difference == pytest.approx(added - removed + together)

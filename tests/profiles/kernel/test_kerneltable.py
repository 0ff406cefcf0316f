"""Kernel configurations side by side: what is distinguished, and what differs."""

from hardcost.profiles.kernel.kerneltable import ABSENT, UNSET, Column, Row, rows

OURS = Column("ours", {"AUDIT": "y", "AUDITSYSCALL": "n", "IMA_MEASURE_PCR_IDX": "10"})
OTHER = Column("other", {"AUDIT": "m"})
PUBLISHED = Column(
    "published", {"AUDIT": "y", "IMA_SOMETHING_OLD": "n", "AUDIT_WATCH": "y"}, published=True
)


def row(option: str, *columns: Column) -> Row:
    return {one.option: one for one in rows(columns)}[option]


def test_set_unset_absent_and_unknown_are_distinguished() -> None:
    assert row("AUDITSYSCALL", OURS, OTHER, PUBLISHED).values == (UNSET, ABSENT, None)
    assert row("IMA_MEASURE_PCR_IDX", OURS).values == ("10",)


def test_known_values_that_differ_are_marked() -> None:
    assert row("AUDIT", OURS, OTHER).differs
    assert not row("AUDIT", OURS, PUBLISHED).differs


def test_what_is_unset_differs_neither_from_what_is_absent_nor_from_what_is_unknown() -> None:
    assert not row("AUDITSYSCALL", OURS, OTHER, PUBLISHED).differs


def test_what_a_source_tells_of_besides_has_a_row_in_its_group() -> None:
    found = row("IMA_SOMETHING_OLD", OURS, PUBLISHED)
    assert (found.group, found.values) == ("integrity", (ABSENT, UNSET))


def test_each_option_has_one_row_and_groups_stay_together() -> None:
    found = rows((OURS, PUBLISHED))
    assert len({one.option for one in found}) == len(found)
    groups = [one.group for one in found]
    assert list(dict.fromkeys(groups)) == ["audit", "integrity", "security modules", "hardening"]
    assert groups == sorted(groups, key=list(dict.fromkeys(groups)).index)


def test_the_catalogue_says_what_is_recommended() -> None:
    assert row("HARDENED_USERCOPY", OURS).recommended == "y"
    assert row("DEVMEM", OURS).recommended == UNSET
    assert row("AUDIT_WATCH", OURS).recommended is None


def test_what_became_of_an_option_is_reported_where_it_is_absent() -> None:
    assert "AUDITSYSCALL" in row("AUDIT_WATCH", OURS, PUBLISHED).note
    assert not row("AUDIT_WATCH", PUBLISHED).note

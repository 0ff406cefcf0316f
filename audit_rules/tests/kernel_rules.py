"""Random rules as the kernel holds them, that auditctl can make."""

from __future__ import annotations

from hypothesis import strategies as st

from auditrules.auditctl.translate import COMPARABLE
from auditrules.model.kernel_rule import (
    ALL_CALLS,
    KEY_SEPARATOR,
    UNSET,
    Action,
    Condition,
    FieldTest,
    FilterList,
    IdComparison,
    KernelRule,
    Operator,
)
from auditrules.tables import lookup

EQUAL = (Operator.EQUAL, Operator.NOT_EQUAL)
ORDER = (*EQUAL, Operator.LESS, Operator.LESS_OR_EQUAL, Operator.GREATER, Operator.GREATER_OR_EQUAL)
ANY = (*ORDER, Operator.ANY_BIT, Operator.ALL_BITS)


def mask_of(calls: set[int]) -> int:
    """Return the mask that holds these numbers."""
    return sum(1 << call for call in calls)


WORDS = st.text(
    st.characters(codec="utf-8", exclude_characters="\x7f", exclude_categories=("Cc", "Cs")),
    min_size=1,
    max_size=12,
)
NUMBERS = st.one_of(st.integers(0, 2000), st.integers(0, UNSET))
IDS = st.integers(0, UNSET - 1)
PATHS = st.lists(
    WORDS.filter(lambda word: "/" not in word and word not in {".", ".."}), min_size=1, max_size=3
).map(lambda parts: "/" + "/".join(parts))
NO_OPERATOR = PATHS.filter(lambda path: not any(sign in path for sign in ("!=", ">=", "<=", "&=")))


def tests(
    names: str, operators: tuple[Operator, ...], values: st.SearchStrategy[int | str]
) -> st.SearchStrategy[FieldTest]:
    """Return tests of these fields."""
    return st.builds(FieldTest, st.sampled_from(names.split()), st.sampled_from(operators), values)


ANYWHERE = st.one_of(
    tests("uid euid suid fsuid auid gid egid sgid fsgid", ORDER, IDS),
    tests("pid", ORDER, NUMBERS),
    tests("pers a0 a1 a2 a3", ANY, NUMBERS),
    tests("loginuid_set", EQUAL, st.just(0)),
    tests("saddr_fam", ORDER, st.integers(0, 45)),
)
EXIT_ONLY = st.one_of(
    tests("ppid devmajor sessionid exit success", ORDER, NUMBERS),
    tests("devminor", ANY, NUMBERS),
    tests("obj_uid obj_gid", ORDER, IDS),
    tests("filetype", EQUAL, st.sampled_from(list(lookup.FILE_TYPES.values()))),
    st.builds(
        lambda pair, operator: IdComparison(pair[0], operator, pair[1]),
        st.sampled_from(sorted(COMPARABLE)),
        st.sampled_from(EQUAL),
    ),
)
ARCHES = tests("arch", EQUAL, st.sampled_from(list(lookup.ARCH_NUMBERS.values())))
PLACES = st.one_of(
    tests("path dir", (Operator.EQUAL,), NO_OPERATOR), tests("inode", EQUAL, NUMBERS)
)
PROGRAMS = tests("exe", EQUAL, NO_OPERATOR)
PERMISSIONS = tests("perm", (Operator.EQUAL,), st.integers(1, 15))
KEYS = st.lists(WORDS.map(lambda word: word[:30]), max_size=2).map(KEY_SEPARATOR.join)
CALLS = st.one_of(
    st.just(ALL_CALLS),
    st.sets(st.integers(0, 460), min_size=1, max_size=20).map(mask_of),
    st.sets(st.integers(0, 2031), min_size=1, max_size=5).map(mask_of),
)


@st.composite
def exit_rules(draw: st.DrawFn) -> KernelRule:
    """Draw a rule of the exit list."""
    conditions: list[Condition] = draw(st.lists(st.one_of(ANYWHERE, EXIT_ONLY), max_size=5))
    for more in (PLACES, PROGRAMS, PERMISSIONS, ARCHES):
        if draw(st.booleans()):
            conditions.insert(draw(st.integers(0, len(conditions))), draw(more))
    return KernelRule(
        FilterList.EXIT,
        draw(st.sampled_from(Action)),
        draw(CALLS),
        tuple(conditions),
        draw(KEYS),
        draw(st.booleans()),
    )


@st.composite
def other_rules(draw: st.DrawFn) -> KernelRule:
    """Draw a rule of another list."""
    where = draw(st.sampled_from([one for one in FilterList if one is not FilterList.EXIT]))
    fields: st.SearchStrategy[Condition] = ANYWHERE
    records = st.sampled_from(sorted(lookup.records().values()))
    if where is FilterList.EXCLUDE:
        fields = st.one_of(
            tests("uid auid gid", ORDER, IDS),
            tests("pid", ORDER, NUMBERS),
            tests("msgtype", ORDER, records),
        )
    elif where is FilterList.USER:
        fields = st.one_of(ANYWHERE, tests("msgtype", ORDER, records))
    elif where is FilterList.FILESYSTEM:
        systems = st.one_of(NUMBERS, st.sampled_from(list(lookup.FILE_SYSTEMS.values())))
        fields = tests("fstype", EQUAL, systems.filter(lambda number: number != UNSET))
    mask = st.just(0) if where is FilterList.TASK else st.one_of(st.just(ALL_CALLS), CALLS)
    has_key = where not in {FilterList.TASK, FilterList.EXCLUDE}
    return KernelRule(
        where,
        draw(st.sampled_from(Action)),
        draw(mask),
        tuple(draw(st.lists(fields, max_size=4))),
        draw(KEYS) if has_key else "",
        draw(st.booleans()),
    )

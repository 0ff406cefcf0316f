"""A function counts for its file's subsystem; what is not known stays, with a number."""

import pytest

from hardcost.analysis.calls.hotspots import hotspots_of
from hardcost.analysis.calls.subsystems import places, subsystem
from hardcost.instruments.kernel_source import file_of
from hardcost.model.call_tree import CallTree, Frame
from tests.analysis.calls.test_hotspots import ROLES, record

FRAMES = (
    Frame(0, "process", "p"),
    Frame(1, "user", "main"),
    Frame(1, "kernel", "audit_filter_rules.constprop.0"),
    Frame(3, "kernel", "no_such_function"),
    Frame(3, "kernel", "made_up [thing]"),
    Frame(3, "kernel", "kmem_cache_alloc"),
)


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("kernel/auditsc.c", "audit"),
        ("arch/x86/kernel/audit_64.c", "audit"),
        ("security/apparmor/audit.c", "security/apparmor"),
        ("kernel/sched/core.c", "kernel/sched"),
        ("mm/slub.c", "mm"),
        ("fs/ext4", "fs/ext4"),
        ("net/ipv4/netfilter/x.c", "net/ipv4"),
    ],
)
def test_a_file_belongs_to_a_subsystem(file: str, name: str) -> None:
    assert subsystem(file) == name


def test_code_stands_below_its_file_and_subsystem() -> None:
    assert places(CallTree(frames=FRAMES, metrics=())) == [
        (),
        ("p",),
        ("programs", "p", "main"),
        ("kernel", "audit", "kernel/auditsc.c", "audit_filter_rules.constprop.0"),
        ("kernel", "[file not known]", "no_such_function"),
        ("kernel", "module thing", "made_up [thing]"),
        ("kernel", "mm", "mm/slub.c", "kmem_cache_alloc"),
    ]


def test_only_code_without_a_symbol_is_unknown() -> None:
    frames = (
        Frame(above=0, kind="process", name="p"),
        Frame(above=1, kind="kernel", name="[unknown]"),
        Frame(above=1, kind="kernel", name="no_such_function"),
    )
    assert [place[1] for place in places(CallTree(frames=frames, metrics=()))[2:]] == [
        "[unknown]",
        "[file not known]",
    ]


@pytest.mark.parametrize(
    ("function", "file"),
    [
        ("__rcu_read_lock", "kernel/rcu/tree_plugin.h"),
        ("__rcu_read_unlock", "kernel/rcu/tree_plugin.h"),
        ("cache_from_obj", "mm/slab.h"),
        ("bpf_lsm_file_open", "kernel/bpf/bpf_lsm.c"),
        ("__x86_indirect_thunk_rax", "arch/x86/lib/retpoline.S"),
    ],
)
def test_functions_of_headers_and_macros_have_their_files(function: str, file: str) -> None:
    assert file_of(function) == file


def test_subsystems_add_up_to_the_cost() -> None:
    before, after = record("without", [{2: 10, 4: 5}]), record("with", [{2: 11, 3: 70, 4: 5, 6: 9}])
    both = [
        one.model_copy(update={"calls": CallTree(frames=FRAMES, metrics=one.calls.metrics)})
        for one in (before, after)
        if one.calls is not None
    ]
    (one,) = hotspots_of(both, *ROLES)
    assert sum(each.after - each.before for each in one.subsystems) == one.cost == 80
    assert [(each.name, each.after - each.before) for each in one.subsystems][:3] == [
        ("audit", 70),
        ("mm", 9),
        ("programs", 1),
    ]
    assert ("[file not known]", 5, 5) in [(e.name, e.before, e.after) for e in one.subsystems]

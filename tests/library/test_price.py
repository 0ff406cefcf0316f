"""What a control costs is answered from lists, or predicted; nothing is measured."""

from __future__ import annotations

import pytest

from hardcost.controls.control import Control
from hardcost.errors import InputError
from hardcost.library.price import PriceRequest, names, price, price_in_short, search
from hardcost.mechanisms.boot import BootParameter
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.model.finding.price import ControlPrice, is_start
from hardcost.prices.price_list import ByMetric, PriceList, lists_within, shipped_lists
from hardcost.profiles import benchmark_ids
from tests.prices.test_price_list import LIST


def _priced(*what: str, kernel: str | None = None) -> tuple[ControlPrice, ...]:
    return price(PriceRequest(what, kernel=kernel)).controls


def test_every_control_of_the_list_has_an_answer() -> None:
    for one in _priced(*names()):
        assert one.why is not None or one.kernels, one.control


def test_no_price_is_in_two_lists_and_no_version_has_two_kernels() -> None:
    """So that a part is added to others of its kernel, and to nothing else."""
    parts = [
        (list_.version, one.control, workload, list_.kernel)
        for list_ in shipped_lists()
        for one in list_.prices
        for workload in list_.head.base
    ]
    assert len({part[:3] for part in parts}) == len(parts)
    assert len({(*part[:2], part[3]) for part in parts}) == len({part[:2] for part in parts})
    for list_ in lists_within():
        assert list_.kernel in {one.kernel for one in shipped_lists()}


@pytest.mark.parametrize("list_", shipped_lists(), ids=lambda one: str(one.name))
def test_an_answer_is_what_the_list_has(list_: PriceList) -> None:
    for one in list_.prices:
        (found,) = _priced(one.control, kernel=list_.version)
        (kernel,) = found.kernels
        costs = {
            (str(call.workload), call.metric): (call.cost, call.low, call.high)
            for call in (*kernel.calls, *kernel.programs, *kernel.start)
            if str(call.workload) in list_.head.base
            and (call.cost or not is_start(call.workload))  # a list leaves out what is nothing
        }
        assert kernel.why == one.why
        assert costs == {
            (workload, metric): cost
            for workload, of in one.costs.items()
            for metric, cost in of.items()
        }


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("init_on_free", "init_on_free=1"),
        ("pti=1", "pti=on"),
        ("init_on_free=on", "init_on_free=1"),
        ("init-on-free=1", "init_on_free=1"),
        ("module.sig_enforce=y", "module.sig_enforce=1"),
        ("kernel/sysrq=0", "kernel.sysrq=0"),
        ("MODULES=n", "kernel.modules_disabled=1"),
        ("CONFIG_SLUB_DEBUG_ON", "SLUB_DEBUG_ON=y"),
        ("SELinux", "lsm=enforcing"),
        ("AppArmor", "lsm=apparmor"),
        ("RHEL-09-213025", "kernel.kptr_restrict=1"),
        ("ubuntu2204:1.5.2", "kernel.yama.ptrace_scope=1"),
    ],
)
def test_a_control_is_found_by_what_people_call_it(text: str, name: str) -> None:
    (found,) = _priced(text)
    assert found.control == name


def test_a_key_stands_for_each_of_its_values() -> None:
    found = [one.control for one in _priced("kernel.kptr_restrict")]
    assert found == ["kernel.kptr_restrict=2", "kernel.kptr_restrict=1"]


def test_a_benchmarks_control_has_the_price_of_each_of_its_rules() -> None:
    found = _priced("RHEL-09-654010")
    assert len(found) == 4
    assert {one.what for one in found} == {"audit rule"}


@pytest.mark.parametrize("product", benchmark_ids.PRODUCTS)
def test_what_any_benchmark_demands_has_an_answer(product: str) -> None:
    for name in benchmark_ids.controls(product)[::9]:
        for one in _priced(f"{product}:{name}" if name[0].isdigit() else name):
            assert one.why is not None or one.kernels, name
            assert one.measure is not None


def test_a_rule_is_predicted_beside_what_the_first_one_costs() -> None:
    (found,) = _priced("-w /etc/shadow -p wa")
    (kernel,) = found.kernels
    assert kernel.known == "predicted"
    costs = {one.metric: one for one in kernel.calls}
    assert 0 < costs["open"].cost < 10
    assert costs["open"].first == 1578
    assert "null" not in costs


def test_a_rule_has_no_price_on_a_kernel_without_constants(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    other = LIST.model_copy(
        update={"head": LIST.head.model_copy(update={"environment": {"kernel": "6.12.1"}})}
    )
    monkeypatch.setattr("hardcost.library.price.shipped_lists", lambda: (other,))
    (found,) = _priced("-w /etc/shadow -p wa", kernel="6.12")
    assert (found.kernels, found.why) == ((), "it is known for Linux 6.1 only")


def test_several_rules_in_one_argument_have_a_price_each() -> None:
    found = _priced("-w /etc/shadow -p wa\n-w /etc/group -p wa")
    assert [one.control for one in found] == ["-w /etc/shadow -p wa", "-w /etc/group -p wa"]


def test_an_option_has_the_price_of_what_does_the_same() -> None:
    (found,) = _priced("SLUB_DEBUG_ON")
    assert found.uses == "slub_debug=FZPU"
    assert found.measure == "hardcost bill --boot slub_debug=FZPU"


def test_what_is_in_no_list_says_how_to_measure_it() -> None:
    (found,) = _priced("kernel.pid_max=4194304")
    assert found.kernels == ()
    assert found.measure == "hardcost bill kernel.pid_max=4194304"
    assert found.why is not None


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("init_on_aloc=1", "init_on_alloc=1"),
        ("seliux", "selinux"),
        ("", "--search"),
        ("\x1b[31m", "--search"),
        ("kernel.x", "--search"),
        ("kernel.kptr_restrct=1", "kernel.kptr_restrict=1"),
        ("KERNEL.KPTR_RESTRICT=1", "kernel.kptr_restrict=1"),
        ("iommu.strict=maybe", "iommu.strict=1"),
        ("CONFIG_pti", "--search"),
    ],
)
def test_an_unknown_name_proposes_near_ones(text: str, hint: str) -> None:
    with pytest.raises(InputError, match="there is no setting") as caught:
        _priced(text)
    assert hint in str(caught.value.problems[0].hint)


@pytest.mark.parametrize("text", ["-w /etc/shadow -p q", "-a always,exit -S nosuch"])
def test_a_rule_that_can_not_be_loaded_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        _priced(text)


def test_no_line_of_an_argument_becomes_one_of_ours() -> None:
    with pytest.raises(InputError) as caught:
        _priced("x\nerror: forged")
    assert "\n" not in str(caught.value)


def test_a_rule_whose_cost_is_not_predicted_is_not_called_free() -> None:
    (found,) = _priced("-a always,task")
    assert (found.kernels, found.why) == ((), "what such a rule costs is not predicted")


def test_what_one_product_lacks_another_may_have() -> None:
    assert _priced("audit_rules_session_events_btmp")


def test_a_number_of_several_benchmarks_is_refused() -> None:
    with pytest.raises(InputError, match="CIS benchmarks"):
        _priced("1.5.2")


def test_nothing_named_is_refused() -> None:
    with pytest.raises(InputError, match="no control is named"):
        _priced()


def test_a_kernel_without_a_list_is_refused_with_those_that_have_one() -> None:
    with pytest.raises(InputError, match=r"no prices of Linux 2\.6") as caught:
        _priced("nopti", kernel="2.6")
    for one in shipped_lists():
        assert one.version in str(caught.value.problems[0].hint)


def test_a_search_finds_words_in_names_and_in_what_is_protected() -> None:
    found = {one.name for one in search("ptrace")}
    assert "kernel.yama.ptrace_scope=3" in found
    assert search("no such word") == ()


@pytest.mark.parametrize(
    ("control", "said"),
    [
        (BootParameter("init_on_free=1"), "adds up to 19.6% (access; Linux 6.1)"),
        (Sysctl("kernel.sysrq", "0"), "adds nothing (Linux 6.1)"),
        (BootParameter("nosmt"), None),
    ],
)
def test_a_price_in_short_is_the_largest_share(control: Control, said: str | None) -> None:
    found = price_in_short(control)
    assert (None if found is None else found.text) == said


def test_a_price_of_a_list_has_its_base_and_what_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    planted = LIST.model_copy(
        update={"prices": (LIST.prices[0].model_copy(update={"control": "init_on_free=1"}),)}
    )
    monkeypatch.setattr("hardcost.library.price.shipped_lists", lambda: (planted,))
    (found,) = _priced("init_on_free=1")
    (kernel,) = found.kernels
    (call,) = kernel.calls
    assert (call.metric, call.cost, call.base, kernel.free) == ("open", 12.5, 5512.0, 1)


def test_what_programs_do_is_apart_from_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    head, first = LIST.head, LIST.prices[0]
    planted = LIST.model_copy(
        update={
            "head": head.model_copy(
                update={
                    "base": {**head.base, "filecopy": {"copy": 5e6}},
                    "units": {"filecopy": "insn"},
                }
            ),
            "prices": (
                first.model_copy(
                    update={
                        "control": "init_on_free=1",
                        "costs": {**first.costs, "filecopy": {"copy": (1000.0, 900.0, 1100.0)}},
                    }
                ),
            ),
        }
    )
    monkeypatch.setattr("hardcost.library.price.shipped_lists", lambda: (planted,))
    (kernel,) = _priced("init_on_free=1")[0].kernels
    (program,) = kernel.programs
    assert (program.metric, program.unit, program.base) == ("copy", "insn", 5e6)
    assert [(call.metric, call.unit) for call in kernel.calls] == [("open", head.unit)]
    assert kernel.free == 1


def _planted(list_: PriceList, costs: ByMetric, base: ByMetric, **head: object) -> PriceList:
    """Return a list of one control, `init_on_free=1`."""
    spans = {
        workload: {metric: (cost, cost, cost) for metric, cost in of.items()}
        for workload, of in costs.items()
    }
    price_ = list_.prices[0].model_copy(update={"control": "init_on_free=1", "costs": spans})
    about = list_.head.model_copy(update={"base": base, **head})
    return list_.model_copy(update={"head": about, "prices": (price_,)})


def test_a_list_that_was_measured_in_parts_is_one_price(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = _planted(LIST, {"syscalls": {"open": 12.0}}, LIST.head.base)
    start = _planted(
        LIST,
        {"boot": {"until-ready": 5e6}},
        {"boot": {"until-ready": 7e8}, "memory": {"slab": 1e7}},
        units={"memory": "bytes"},
    )
    monkeypatch.setattr("hardcost.library.price.shipped_lists", lambda: (calls, start))
    (kernel,) = _priced("init_on_free=1")[0].kernels
    assert [call.metric for call in kernel.calls] == ["open"]
    assert kernel.free == 1
    assert [(one.metric, one.cost, one.unit) for one in kernel.start] == [
        ("until-ready", 5e6, "insn/op"),
        ("slab", 0.0, "bytes"),
    ]


def test_a_price_in_company_is_beside_that_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its base is the call without the control, though the list has that with all of them."""
    alone = _planted(LIST, {"syscalls": {"open": 12.0}}, LIST.head.base)
    inside = _planted(LIST, {"syscalls": {"open": 2.0}}, LIST.head.base, within="stig")
    monkeypatch.setattr("hardcost.library.price.shipped_lists", lambda: (alone,))
    monkeypatch.setattr("hardcost.library.price.lists_within", lambda: (inside,))
    (kernel,) = _priced("init_on_free=1")[0].kernels
    (within,) = kernel.within
    assert (within.profile, within.compared) == ("stig", 1)
    assert [(call.cost, call.base) for call in within.calls] == [(2.0, 5510.0)]
    assert [(call.cost, call.base) for call in kernel.calls] == [(12.0, 5512.0)]


def test_a_part_without_a_price_is_missing_beside_another(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = _planted(LIST, {"syscalls": {"open": 12.0}}, LIST.head.base)
    refused = _planted(LIST, {}, {"boot": {"until-ready": 7e8}})
    (price_,) = refused.prices
    refused = refused.model_copy(
        update={"prices": (price_.model_copy(update={"why": "it does not boot"}),)}
    )
    for lists in ((calls, refused), (refused, calls)):
        monkeypatch.setattr("hardcost.library.price.shipped_lists", lambda lists=lists: lists)
        (kernel,) = _priced("init_on_free=1")[0].kernels
        assert kernel.known == "measured"
        assert kernel.missing == {"boot": "it does not boot"}


def test_a_rule_says_which_users_and_groups_it_does_not_know() -> None:
    rule = "-a always,exit -F arch=b64 -S open -F auid=apache -F gid=wheel -k x"
    (found,) = price(PriceRequest((rule,))).controls
    assert found.caveats == ("apache and wheel are priced as unused ids",)
    (root,) = price(
        PriceRequest((rule.replace("apache", "root").replace("wheel", "root"),))
    ).controls
    assert root.caveats == ()

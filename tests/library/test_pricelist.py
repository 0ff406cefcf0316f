"""Price lists are built of what was measured, on a machine that computes its answers."""

from __future__ import annotations

from pathlib import Path

import pytest

import hardcost
from hardcost.errors import InputError
from hardcost.library.measurement import Measuring
from hardcost.library.pricelist import PriceListRequest, build_list, preview_list
from hardcost.prices.price_list import PriceList, read, written
from hardcost.protocol.boot import KernelRecipe, Relations, Unmet
from tests.fakes.machine import FakeMachine

CALLS = hardcost.workloads_of("syscalls calls=null+open")


def _built(store: Path, *controls: str) -> PriceList:
    how = Measuring(machine="fake", jobs=1, store=store, workloads=CALLS)
    return build_list(PriceListRequest(controls, how=how))


def test_what_a_control_adds_is_its_price(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = {"init_on_alloc=0": -90, "init_on_free=1": 500}
    monkeypatch.setattr("tests.fakes.guest._WORDS", words)
    found = _built(tmp_path / "s", "init_on_alloc=1", "init_on_free=1", "slab_nomerge")
    by_name = {one.control: one for one in found.prices}
    assert by_name["slab_nomerge"].costs == {}
    assert by_name["init_on_free=1"].without is None
    added = by_name["init_on_free=1"].costs["syscalls calls=null+open"]
    assert added == {"null": (500.0, 500.0, 500.0), "open": (500.0, 497.0, 503.0)}
    # Every guest has this one anyway: what switches it off saves as much as it adds.
    assert by_name["init_on_alloc=1"].without == "init_on_alloc=0"
    saved = by_name["init_on_alloc=1"].costs["syscalls calls=null+open"]
    assert saved == {"null": (90.0, 90.0, 90.0), "open": (90.0, 87.0, 93.0)}
    assert found.head.base["syscalls calls=null+open"] == {"null": 200.0, "open": 1500.0}
    assert read(written(found).encode(), f"{found.name}.jsonl") == found


def test_a_control_that_the_kernel_refuses_has_no_price(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tests.fakes.guest._UNKNOWN", "slab_nomerge")
    found = _built(tmp_path / "s", "slab_nomerge", "init_on_free=1")
    refused, _ = found.prices
    assert refused.control == "slab_nomerge"
    assert refused.why is not None
    assert "does not know it" in refused.why


def test_a_list_measures_every_control_but_the_modules(tmp_path: Path) -> None:
    how = Measuring(machine="fake", store=tmp_path / "s", workloads=CALLS)
    plan = preview_list(PriceListRequest(how=how)).plan
    names = {str(one.role) for one in plan.configurations}
    assert {"none", "init_on_alloc=1", "kernel.yama.ptrace_scope=1"} <= names
    assert not any(name.startswith("lsm=") for name in names)


def test_kernel_options_are_measured_by_what_kconfig_sets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that the base has is measured without it; one that can't be set says why."""

    def relations(_: object, recipe: KernelRecipe) -> Relations:
        ((name, value),) = options = recipe.options
        if name == "DRM_LEGACY" and value == "y":
            return Relations((), (), (Unmet(name, value, "n", "it depends on DRM"),), {})
        if value == ("y" if name == "SECURITY" else "n"):
            return Relations((), options, (), {})
        return Relations(options, (), (), {})

    monkeypatch.setattr(FakeMachine, "relations", relations)
    found = _built(tmp_path / "s", "SECURITY=y", "DEBUG_LIST=y", "DRM_LEGACY=n", "KSM=n")
    by_name = {one.control: one for one in found.prices}
    assert by_name["DEBUG_LIST=y"].without is None
    assert by_name["SECURITY=y"].without == "SECURITY=n"
    assert by_name["KSM=n"].without == "KSM=y"
    assert by_name["DRM_LEGACY=n"].why is not None
    assert "DRM_LEGACY=y can't be set" in by_name["DRM_LEGACY=n"].why
    assert "it depends on DRM" in by_name["DRM_LEGACY=n"].why
    assert "without hardening" in found.head.against


def test_a_list_is_of_one_kind(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can't be in one list"):
        _built(tmp_path / "s", "init_on_free=1", "DEBUG_LIST=y")


def test_within_a_profile_each_setting_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    words = {"init_on_alloc=0": -90, "init_on_free=1": 500}
    monkeypatch.setattr("tests.fakes.guest._WORDS", words)
    profile = tmp_path / "mine.toml"
    profile.write_text('boot = ["init_on_free=1", "slab_nomerge"]\naudit.rules = ["-D"]\n')
    how = Measuring(machine="fake", jobs=1, store=tmp_path / "s", workloads=CALLS)
    found = build_list(PriceListRequest(within=str(profile), how=how))
    assert [one.control for one in found.prices] == ["init_on_free=1", "slab_nomerge"]
    saved = found.prices[0].costs["syscalls calls=null+open"]
    assert saved == {"null": (500.0, 500.0, 500.0), "open": (500.0, 497.0, 503.0)}
    assert found.prices[1].costs == {}
    assert found.head.base["syscalls calls=null+open"] == {"null": 700.0, "open": 2000.0}
    assert found.head.within == str(profile)
    assert read(written(found).encode(), f"{found.name}.jsonl") == found
    (only,) = build_list(PriceListRequest(("slab_nomerge",), within=str(profile), how=how)).prices
    assert only.control == "slab_nomerge"
    profile.write_text('boot = ["init_on_alloc=1", "slab_nomerge"]\n')  # the first is a default
    default, _ = build_list(PriceListRequest(within=str(profile), how=how)).prices
    assert default.without == "init_on_alloc=0"
    assert default.costs["syscalls calls=null+open"]["null"] == (90.0, 90.0, 90.0)
    with pytest.raises(InputError, match="list of modules can't be measured within a profile"):
        build_list(PriceListRequest(kind="modules", within=str(profile), how=how))
    profile.write_text('audit.rules = ["-a always,exit -S open"]\n')
    with pytest.raises(InputError, match="sets no boot parameter and no sysctl"):
        build_list(PriceListRequest(within=str(profile), how=how))


@pytest.mark.parametrize(
    ("name", "hint"),
    [("init_on_aloc=1", "init_on_alloc=1"), ("kpti", "it is for arm64"), ("STRICT_DEVMEM=y", "")],
)
def test_what_can_not_be_measured_is_refused(name: str, hint: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="can be measured by itself") as caught:
        _built(tmp_path / "s", name)
    assert hint in str(caught.value.problems[0].hint)

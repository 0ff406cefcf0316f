from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.supply.kernels import kconfig_reasons

TOP = """
mainmenu "test"
source "arch/$(SRCARCH)/Kconfig"
menu "General"
    depends on NET

config NET_SECRET
    bool "secrets"
    depends on SECRETS && \\
        !OPEN
    select RANDOM_THING if NET
    help
      Text that looks like
      config FALSE
        depends on NOTHING

      and goes on.

config RANDOM_THING
    bool
endmenu
if EXPERT
source "sub/Kconfig"
endif
choice
    prompt "which"
config FIRST
    bool "first"
config SECOND
    bool "second"
endchoice
"""
SUB = """
config DEEP
    tristate "deep"
    depends on $(cc-option,-fdeep)
"""


@pytest.fixture
def tree(tmp_path: Path) -> kconfig_reasons.Kconfig:
    for name, text in {
        "Kconfig": TOP,
        "sub/Kconfig": SUB,
        "arch/x86/Kconfig": 'config ARCH_ONE\n\tbool "one"\n\tselect FIRST_HELPER\n',
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return kconfig_reasons.read(tmp_path)


def test_options_are_found_in_all_files_and_not_in_help_texts(
    tree: kconfig_reasons.Kconfig,
) -> None:
    assert set(tree.symbols) == {
        "ARCH_ONE",
        "NET_SECRET",
        "RANDOM_THING",
        "DEEP",
        "FIRST",
        "SECOND",
    }


def test_the_dependency_that_is_missing_is_named(tree: kconfig_reasons.Kconfig) -> None:
    assert tree.why("NET_SECRET", "y", {"NET": "y", "OPEN": "y"}) == (
        "it depends on SECRETS && !OPEN, and SECRETS is not set, OPEN is y"
    )


def test_the_conditions_of_menus_and_including_files_count(tree: kconfig_reasons.Kconfig) -> None:
    assert tree.missing("RANDOM_THING", {}) == ["NET"]
    assert tree.missing("DEEP", {}) == ["EXPERT"]
    assert tree.missing("DEEP", {"EXPERT": "y"}) == []


def test_an_option_that_does_not_exist_is_reported_with_the_one_meant(
    tree: kconfig_reasons.Kconfig,
) -> None:
    assert tree.why("NET_SECRETS", "y", {}) == (
        "this source has no option of that name; did you mean NET_SECRET?"
    )


def test_who_selects_an_option_is_reported(tree: kconfig_reasons.Kconfig) -> None:
    config = {"NET": "y", "NET_SECRET": "y", "RANDOM_THING": "y"}
    assert tree.why("RANDOM_THING", "n", config) == "NET_SECRET selects it"
    assert tree.selectors("RANDOM_THING", {**config, "NET": "n"}) == []


def test_an_option_that_others_select_cannot_be_set(tree: kconfig_reasons.Kconfig) -> None:
    assert tree.why("RANDOM_THING", "y", {"NET": "y"}) == (
        "it can't be set by hand: others select it"
    )


def test_the_one_that_was_chosen_instead_is_named(tree: kconfig_reasons.Kconfig) -> None:
    assert tree.why("SECOND", "y", {"FIRST": "y"}) == (
        "it is one of a choice, and FIRST was chosen"
    )

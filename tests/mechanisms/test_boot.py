from __future__ import annotations

import pytest

from auditrules.model.location import Location
from hardcost.errors import InputError
from hardcost.mechanisms.boot import BOOT_PARAMETERS, BootParameter
from hardcost.mechanisms.sysctl import Sysctl
from hardcost.profiles.kernel import options
from hardcost.protocol.boot import WordVerdict


def test_words_come_in_their_order() -> None:
    controls = (BootParameter("audit=0"), Sysctl("a.b", "1"), BootParameter("quiet"))
    assert BOOT_PARAMETERS.boot_parameters(controls) == ("audit=0", "quiet")


def test_two_words_in_one_are_refused() -> None:
    with pytest.raises(InputError, match="'audit=0 quiet' is not one word"):
        BOOT_PARAMETERS.boot_parameters((BootParameter("audit=0 quiet"),))


def test_the_end_of_the_kernels_words_is_refused() -> None:
    with pytest.raises(InputError, match="init's"):
        BOOT_PARAMETERS.boot_parameters((BootParameter("--"),))


def test_placebos_are_the_only_words_of_hardcosts_own_that_a_user_may_give() -> None:
    assert BOOT_PARAMETERS.boot_parameters((BootParameter("hardcost.placebo=3"),)) == (
        "hardcost.placebo=3",
    )
    with pytest.raises(InputError, match="reserved"):
        BOOT_PARAMETERS.boot_parameters((BootParameter("hardcost.snapshot"),))


def test_a_parameter_that_the_kernel_refuses_is_a_problem_at_its_place() -> None:
    place = Location("my.toml", 3)
    controls = (BootParameter("mitigatons=off", place=place), Sysctl("a.b", "1"))
    verdict = WordVerdict("mitigatons=off", refused="unknown", meant="mitigations")
    (problem,), _ = BOOT_PARAMETERS.check_boot(
        controls, [verdict, WordVerdict("other", refused="not here")]
    )
    assert problem.place == place
    assert problem.hint == "did you mean mitigations?"
    assert "'mitigatons=off': unknown" in problem.message


def test_a_value_that_the_kernel_ignores_in_silence_is_a_problem() -> None:
    (problem,), _ = BOOT_PARAMETERS.check_boot((BootParameter("mds=ful"),), [])
    assert problem.hint == "did you mean mds=full?"
    right = (BootParameter("mds=full"), BootParameter("audit=0"))
    assert BOOT_PARAMETERS.check_boot(right, [])[0] == []


def test_what_is_not_known_of_a_parameter_is_noted() -> None:
    verdicts = [
        WordVerdict("kvm.x=1", note="kvm is a module"),
        WordVerdict("other", note="not here"),
    ]
    assert BOOT_PARAMETERS.check_boot((BootParameter("kvm.x=1"),), verdicts)[1] == [
        "boot parameter 'kvm.x=1': kvm is a module"
    ]


@pytest.mark.parametrize(
    "text", ["audit=0", "quiet", 'dyndbg="file x +p"', "slub_debug=FZ,kmalloc"]
)
def test_a_word_of_the_command_line_is_taken(text: str) -> None:
    assert BootParameter(text).word == text


@pytest.mark.parametrize("text", ["", "a b", 'x="a', "a\nb", "é", "hardcost.snapshot", "a\0"])
def test_what_is_no_word_of_the_command_line_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"one word|begin with hardcost"):
        _ = BootParameter(text).word


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("mds=ful", "full"),
        ("mitigations=of", "off"),
        ("pti=onn", "on"),
        ("tsx_async_abort=zzz", "off or full or full,nosmt or auto or auto,nosmt"),
    ],
)
def test_a_value_that_no_kernel_takes_is_reported_with_the_one_that_was_meant(
    word: str, meant: str
) -> None:
    assert BootParameter(word).wrong_value == meant


@pytest.mark.parametrize(
    "word",
    ["mds=full,nosmt", "pti=auto", "mitigations=auto;no_user_kernel", "nosmt", "nosmt=force"],
)
def test_values_that_a_kernel_takes_are_not_doubted(word: str) -> None:
    assert BootParameter(word).wrong_value is None


def test_values_that_the_catalogue_recommends_are_not_doubted() -> None:
    words = [word for one in options.boot_parameters() if (word := one.control)]
    assert words
    assert [one.text for one in words if one.wrong_value] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("init_on_alloc=1", "page_poison=1"), ["page_poison=1 switches off init_on_alloc=1"]),
        (("init_on_free=1", "slub_debug=FZP"), ["slub_debug=FZP switches off init_on_free=1"]),
        (("init_on_free=1", "slub_debug"), ["slub_debug switches off init_on_free=1"]),
        (("init_on_free=1", "slub_debug=FZ"), []),
        (("init_on_free=1", "slub_debug=-"), []),
        (("init_on_free=1", "slub_debug=fzp"), ["slub_debug=fzp switches off init_on_free=1"]),
        (("init_on_free=1", "slab_debug=P"), ["slab_debug=P switches off init_on_free=1"]),
        (
            ("init_on_free=1", "slub_debug=FZ;P,dentry"),
            ["slub_debug=FZ;P,dentry switches off init_on_free=1 for objects of the slabs that"],
        ),
        (("init_on_free=1", "slub_debug=P,dentry;FZ,inode"), ["slub_debug=P,dentry;FZ,inode "]),
        (("init_on_free=0", "page_poison=1"), []),
        (("slub_debug=ZF", "slub_debug=P"), ["slub_debug=P replaces slub_debug=ZF"]),
        (("slub_debug=P", "init_on_free=1", "slub_debug=ZF"), ["slub_debug=ZF replaces "]),
    ],
)
def test_what_is_switched_off_is_named_with_what_does_it(
    words: tuple[str, ...], said: list[str]
) -> None:
    found = [
        why
        for _, why in BOOT_PARAMETERS.overruled_controls([BootParameter(word) for word in words])
    ]
    assert [one.startswith(start) for one, start in zip(found, said, strict=True)] == [True] * len(
        said
    )

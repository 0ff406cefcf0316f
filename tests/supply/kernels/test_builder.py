"""What a build refuses, and what patches make of one. Kernels are built in tests/vm."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from hardcost.errors import InputError, MachineError
from hardcost.protocol.boot import KernelRecipe
from hardcost.supply.cache.built_kernels import kept_kernels
from hardcost.supply.cache.cache import Cache
from hardcost.supply.kernels import config, source
from hardcost.supply.kernels.builder import Kernels
from hardcost.supply.kernels.make import Trust
from tests.supply.kernels import linux
from tests.supply.kernels.linux import AUDIT, THREE, changed


@pytest.mark.parametrize("name", ["a b", "a;b", "$(id)", "it's", "a:b", "`id`", "a#b"])
def test_a_path_that_make_or_a_shell_would_act_on_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(InputError, match="can't be built in the cache") as caught:
        _ = Kernels(Cache(tmp_path / name)).source
    assert "HARDCOST_CACHE" in (caught.value.problems[0].hint or "")
    assert not (tmp_path / name).exists()
    with pytest.raises(InputError, match="can't be built in the source"):
        source.from_folder(tmp_path / name)


@pytest.mark.parametrize(
    "value", ["/dev/null; touch x", "a|b", "a&b", "a>b", "$(id)", "`id`", "a\nb", "a'b", "a#b", "*"]
)
def test_a_string_that_a_shell_would_act_on_is_refused(value: str) -> None:
    with pytest.raises(InputError, match="INITRAMFS_SOURCE can't be set to"):
        config.check_fit({"A": "y", "INITRAMFS_SOURCE": value})


def test_strings_of_ordinary_configurations_are_taken() -> None:
    config.check_fit(
        {
            "CC_VERSION_TEXT": "gcc (Debian 12.2.0-14+deb12u1) 12.2.0; it's Kconfig's own",
            "DEFAULT_HOSTNAME": "(none)",
            "LSM": "landlock,lockdown,yama",
            "SYSTEM_TRUSTED_KEYS": "debian/certs/debian-uefi-certs.pem",
            "EXTRA_FIRMWARE": "",
            "CMDLINE": "console=ttyS0 quiet",
        }
    )


def kernels(tmp_path: Path) -> Kernels:
    """Return what builds kernels of a source that takes no time."""
    folder = tmp_path / "linux"
    made = folder if folder.exists() else linux.make(folder)
    return Kernels(Cache(tmp_path / "cache"), made, trust=Trust(unconfined=True))


def patch(tmp_path: Path, name: str, text: str) -> KernelRecipe:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return KernelRecipe(patches=(str(path),))


def test_a_kernel_is_built_of_the_patched_source_which_stays_as_it_is(tmp_path: Path) -> None:
    made = kernels(tmp_path)
    recipe = patch(tmp_path, "three.patch", THREE)
    found = asyncio.run(made.build(recipe))
    stock = asyncio.run(made.build(KernelRecipe()))
    assert found.image.read_text() == AUDIT.replace("three", "THREE")
    assert stock.image.read_text() == AUDIT == (tmp_path / "linux/kernel/audit.c").read_text()
    assert (found.patches, stock.patches) == (("three.patch",), ())
    assert made.find(recipe) == found
    assert "three.patch" in made.title(recipe)
    assert not list((tmp_path / "linux").rglob("*.orig"))


def test_the_same_patches_under_two_names_are_one_kernel(tmp_path: Path) -> None:
    first = patch(tmp_path, "a.patch", THREE)
    second = patch(tmp_path, "folder/0001.patch", f"Subject: otherwise said\n\n{THREE}")
    folder = KernelRecipe(patches=(str(tmp_path / "folder"),))
    other = patch(tmp_path, "b.patch", THREE.replace("THREE", "3"))
    names = [kernels(tmp_path).name(one) for one in (first, second, folder, other, KernelRecipe())]
    assert names[0] == names[1] == names[2]
    assert len(set(names)) == 3


def test_a_patch_to_what_is_configured_is_seen_by_kconfig(tmp_path: Path) -> None:
    made = kernels(tmp_path)
    recipe = patch(tmp_path, "k.patch", changed("Kconfig", "CONFIG_A=y", "CONFIG_B=y"))
    assert made.configuration(recipe) == {"B": "y"}
    assert made.configuration(KernelRecipe()) == {"A": "y"}


def test_a_patched_build_that_fails_keeps_its_log_and_leaves_no_kernel(tmp_path: Path) -> None:
    made = kernels(tmp_path)
    recipe = patch(tmp_path, "bad.patch", THREE.replace("+THREE", "+nonsense"))
    with pytest.raises(MachineError, match="nonsense") as caught:
        asyncio.run(made.build(recipe))
    (log,) = (tmp_path / "cache/logs").iterdir()
    assert str(log) in (caught.value.problems[0].hint or "")
    assert made.find(recipe) is None
    assert not list(kept_kernels(Cache(tmp_path / "cache")))


def test_a_patch_that_does_not_apply_is_reported_before_anything_is_made(tmp_path: Path) -> None:
    made = kernels(tmp_path)
    for recipe in (
        patch(tmp_path, "other.patch", THREE.replace(" two", " 2")),
        patch(tmp_path, "text.patch", "hello\n"),
        KernelRecipe(patches=("missing",)),
    ):
        with pytest.raises(InputError):
            made.name(recipe)
    assert not (tmp_path / "cache").exists()


def test_patches_of_one_source_are_compiled_in_one_tree_and_after_each_other(
    tmp_path: Path,
) -> None:
    three = patch(tmp_path, "three.patch", THREE)
    four = patch(tmp_path, "four.patch", THREE.replace("+THREE", "+4"))
    kconfig = patch(tmp_path, "k.patch", changed("Kconfig", "CONFIG_A=y", "CONFIG_B=y"))
    for recipe, text in ((three, "THREE"), (four, "4"), (kconfig, "three")):
        found = asyncio.run(kernels(tmp_path).build(recipe))
        assert found.image.read_text() == AUDIT.replace("three", text)
        assert "CONFIG_B=y" in found.config.read_text() or recipe != kconfig
    assert len(list((tmp_path / "cache/builds").glob("*/tree"))) == 1
    shutil.rmtree(tmp_path / "cache/kernels")
    again = asyncio.run(kernels(tmp_path).build(three))
    assert again.image.read_text() == AUDIT.replace("three", "THREE")


def test_a_source_of_ones_own_may_be_edited_after_it_was_patched(tmp_path: Path) -> None:
    three = patch(tmp_path, "three.patch", THREE)
    before = asyncio.run(kernels(tmp_path).build(three))
    with (tmp_path / "linux/kernel/audit.c").open("a") as file:
        file.write("six\n")
    after = asyncio.run(kernels(tmp_path).build(three))
    assert after.name != before.name
    assert after.image.read_text() == before.image.read_text() + "six\n"


def test_what_is_damaged_of_a_build_is_made_again(tmp_path: Path) -> None:
    recipe = patch(tmp_path, "three.patch", THREE)
    before = asyncio.run(kernels(tmp_path).build(recipe))
    (place,) = (tmp_path / "cache/builds").glob("*/seed")
    builds = place.parent
    damaged = (
        builds / "seed",
        next((builds / "resolved").iterdir()),
        builds / "o/vmlinux",
        builds / "tree/Makefile",
        builds / "tree/kernel/audit.c",
    )
    for path in damaged:
        content = path.read_bytes()
        path.unlink()  # a link to the source else, which would be damaged with it
        path.write_bytes(content.replace(b"e", b"o"))
        shutil.rmtree(tmp_path / "cache/kernels")
        after = asyncio.run(kernels(tmp_path).build(recipe))
        assert after.name == before.name, path
        assert after.image.read_text() == AUDIT.replace("three", "THREE"), path
        assert path.read_bytes() == content, path


def test_a_kept_kernel_that_is_damaged_is_built_again(tmp_path: Path) -> None:
    before = asyncio.run(kernels(tmp_path).build(KernelRecipe()))
    before.image.write_text("another")
    assert kernels(tmp_path).find(KernelRecipe()) is None
    asyncio.run(kernels(tmp_path).build(KernelRecipe()))
    assert before.image.read_text() == AUDIT

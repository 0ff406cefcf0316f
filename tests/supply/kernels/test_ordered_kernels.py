"""A kernel that another host builds is the one that this host would have built, or is refused."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from hardcost.errors import MachineError
from hardcost.host import compiler
from hardcost.measure.workers import worker
from hardcost.protocol.boot import KernelRecipe
from hardcost.supply.cache.cache import Cache
from hardcost.supply.kernels import builds
from hardcost.supply.kernels.builder import FILES, Kernels
from hardcost.supply.kernels.identity import KernelParts
from hardcost.supply.transfer import Order
from tests.supply.kernels.linux import AUDIT, THREE
from tests.supply.kernels.test_builder import kernels, patch


class Elsewhere:
    """Builds with a cache of its own, and hands over what comes as if it had been sent."""

    def __init__(self, root: Path, harm: Callable[[Path], object] = lambda _: None) -> None:
        self.cache = Cache(root)
        self._harm = harm
        self.orders: list[Order] = []

    async def __call__(self, order: Order, folder: Path) -> None:
        self.orders.append(order)
        sent: Order = worker.unpack_value(worker.pack_value(order))
        files = {one.digest: Path(one.source) for one in order.supplies}
        made = await builds.built(sent, files, self.cache, 1)
        for one in made:
            shutil.copy(one.source, folder / one.title)
        self._harm(folder)


def test_a_kernel_built_elsewhere_is_the_same_as_one_built_here(tmp_path: Path) -> None:
    here, there = kernels(tmp_path), Elsewhere(tmp_path / "there")
    other = type(here)(Cache(tmp_path / "other"), tmp_path / "linux")
    for recipe in (KernelRecipe(), patch(tmp_path, "three.patch", THREE)):
        asyncio.run(other.built_by(recipe, there))
        came, built = other.find(recipe), asyncio.run(here.build(recipe))
        assert came is not None
        assert (came.name, came.release) == (built.name, built.release)
        differing = {"seconds"}
        assert {key: came.about[key] for key in came.about.keys() - differing} == {
            key: built.about[key] for key in built.about.keys() - differing
        }
        for name in set(FILES) - {"log", "about.json"}:
            mine, theirs = (one.image.with_name(name).read_bytes() for one in (built, came))
            assert theirs == mine, name
    patched = other.find(recipe)
    assert patched is not None
    assert patched.image.read_text() == AUDIT.replace("three", "THREE")
    asyncio.run(other.built_by(recipe, there))
    assert len(there.orders) == 2
    assert there.orders[0].supplies == there.orders[1].supplies


def test_what_comes_of_another_compiler_is_refused_before_it_is_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = kernels(tmp_path)
    ours = here.order(KernelRecipe())
    found = compiler.find()
    monkeypatch.setattr(compiler, "find", lambda: replace(found, versions="gcc 1"))
    files = {one.digest: tmp_path / one.source for one in ours.supplies}
    with pytest.raises(MachineError, match="would be another one on this host"):
        asyncio.run(builds.built(ours, files, Cache(tmp_path / "there"), 1))
    assert not list((tmp_path / "there" / "kernels").glob("*"))


def test_an_archive_of_another_source_is_refused(tmp_path: Path) -> None:
    here = kernels(tmp_path)
    order = here.order(KernelRecipe())
    assert isinstance(order.about, KernelParts)
    other = replace(order.about, source=replace(order.about.source, digest="0" * 16))
    files = {one.digest: tmp_path / one.source for one in order.supplies}
    with pytest.raises(MachineError, match="does not hold that source"):
        asyncio.run(builds.built(replace(order, about=other), files, Cache(tmp_path / "there"), 1))


def without_symbols(folder: Path) -> None:
    (folder / "System.map").unlink()


def reconfigured(folder: Path) -> None:
    (folder / "config").write_text("CONFIG_A=n\n")


def changed(folder: Path) -> None:
    (folder / "vmlinux").write_text("something else")


@pytest.mark.parametrize(
    ("harm", "message"),
    [
        (without_symbols, "it has about.json"),
        (reconfigured, "its configuration is another"),
        (changed, "its image is another"),
    ],
)
def test_what_is_not_the_kernel_that_was_asked_for_does_not_enter_the_cache(
    tmp_path: Path, harm: Callable[[Path], object], message: str
) -> None:
    here: Kernels = kernels(tmp_path)
    with pytest.raises(MachineError, match=f"not the one asked for: {message}"):
        asyncio.run(here.built_by(KernelRecipe(), Elsewhere(tmp_path / "there", harm)))
    assert here.find(KernelRecipe()) is None
    assert not list((tmp_path / "cache" / "kernels").glob("*"))

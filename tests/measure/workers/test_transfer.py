"""What workers lack leaves the host of a run once, and goes on from worker to worker."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from distributed import Client

from hardcost.measure.workers.transfer import Sending
from hardcost.supply.cache.cache import Cache
from hardcost.supply.transfer import Supply, find_supply, supply_of
from tests.measure.workers.labs import RunningLab

NAMES = ("one", "two", "three")


class Counted(Sending):
    """Counts what goes out from here."""

    uploads = 0

    async def _upload(self, supply: Supply, address: str) -> str:
        self.uploads += 1
        return await super()._upload(supply, address)


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningLab]:
    with RunningLab(tmp_path_factory.mktemp("lab")) as lab:
        for name in NAMES:
            lab.worker(name)
        yield lab


def sent(
    lab: RunningLab, supplies: Sequence[Supply], also: Sequence[str] = ()
) -> tuple[int, list[str]]:
    """Send supplies to all workers twice; return the uploads, and who could not get them."""

    async def all_of_it() -> tuple[int, list[str]]:
        async with Client(lab.address, asynchronous=True) as client:
            known = await client.run(os.getpid)
            assert len(known) == len(NAMES)
            sending = Counted(client, "run")
            lost = await sending.send(supplies, [*known, *also])
            again = await sending.send(supplies, list(known))
            assert set(again) <= set(lost)
            return sending.uploads, list(lost.values())

    return asyncio.run(all_of_it())


def test_each_worker_has_it_in_its_own_cache_and_it_was_sent_once(
    lab: RunningLab, tmp_path: Path
) -> None:
    path = tmp_path / "kernel"
    path.write_bytes(os.urandom(9 << 20))
    supply = supply_of(path, "a kernel", tmp_path / "cache")
    assert sent(lab, [supply]) == (1, [])
    for name in NAMES:
        place = find_supply(supply, Cache(lab.folder / f"cache-{name}"))
        assert place is not None
        assert place.read_bytes() == path.read_bytes()
    assert sent(lab, [supply]) == (0, [])


def test_what_changes_on_its_way_is_refused_by_each_worker(lab: RunningLab, tmp_path: Path) -> None:
    path = tmp_path / "kernel"
    path.write_bytes(b"as it was hashed")
    supply = supply_of(path, "a kernel", tmp_path / "cache")
    path.write_bytes(b"as it was later!")
    _, lost = sent(lab, [supply])
    assert lost
    assert all("could not get a kernel" in why for why in lost)
    assert any("a kernel arrived damaged" in why for why in lost)
    assert all(find_supply(supply, Cache(lab.folder / f"cache-{name}")) is None for name in NAMES)

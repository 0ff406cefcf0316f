"""Sending workers what they lack: once to one of them, and from each that has it to another."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from distributed import Client

from hardcost.measure.workers import worker
from hardcost.supply.transfer import Supply, piece_of

_ROUNDS_LOST = 3  # in which no worker got it, after which those that lack it are given up


class Sending:
    """What each worker has of the supplies of a run."""

    def __init__(self, client: Client, run: str) -> None:
        self._client = client
        self._run = run
        self._have: dict[str, set[str]] = {}
        self._one_at_a_time = asyncio.Lock()

    def forget(self, address: str) -> None:
        """Know nothing any more of what a worker has: it is gone, or has lost something."""
        self._have.pop(address, None)

    async def send(self, wanted: Sequence[Supply], addresses: Collection[str]) -> dict[str, str]:
        """Have workers fetch what they lack; return why, for those that could not, by address."""
        digests = {one.digest for one in wanted}
        if all(digests <= self._have.get(address, set()) for address in addresses):
            return {}
        async with self._one_at_a_time:
            lost: dict[str, str] = {}
            unasked = [one for one in addresses if not digests <= self._have.get(one, set())]
            said = await self._client.run(
                worker.missing_digests, tuple(wanted), workers=unasked, on_error="return"
            )
            lacking: dict[str, set[str]] = {}
            for address, answer in said.items():
                if isinstance(answer, list):
                    lacking[address] = set(answer)
                    self._have.setdefault(address, set()).update(digests - set(answer))
                else:
                    lost[address] = f"it does not say what it has: {answer}"
            for one in wanted:
                lost |= await self._spread(
                    one, [address for address in lacking if one.digest in lacking[address]]
                )
            return lost

    async def _spread(self, supply: Supply, addresses: Sequence[str]) -> dict[str, str]:
        """Send a supply to workers that lack it, in rounds that double those that have it."""
        waiting, why, rounds_lost = list(addresses), dict[str, str](), 0
        while waiting and rounds_lost < _ROUNDS_LOST:
            sources = [
                address
                for address, has in self._have.items()
                if supply.digest in has and address not in waiting
            ]
            if sources:
                pairs = dict(zip(waiting, sources, strict=False))
                said = await self._client.run(
                    worker.fetch,
                    self._run,
                    supply,
                    pairs,
                    workers=list(pairs),
                    on_error="return",
                )
            else:
                said = {waiting[0]: await self._upload(supply, waiting[0])}
            rounds_lost += 1
            for address, trouble in said.items():
                waiting.remove(address)
                if trouble == "":
                    self._have.setdefault(address, set()).add(supply.digest)
                    rounds_lost = 0
                else:
                    why[address] = f"it could not get {supply.title}: {trouble}"
                    waiting.append(address)
        return {address: why[address] for address in waiting if address in why} | {
            address: f"it could not get {supply.title}" for address in waiting if address not in why
        }

    async def _upload(self, supply: Supply, address: str) -> str:
        """Send a supply to a worker from here, through the scheduler; return what went wrong."""
        start, source = 0, Path(supply.source)
        while True:
            piece = await asyncio.to_thread(piece_of, source, start)
            said: Mapping[str, object] = await self._client.run(
                worker.take, self._run, supply, piece, workers=[address], on_error="return"
            )
            trouble = said.get(address, "it is gone")
            if trouble != "" or piece is None:
                return str(trouble)
            start = piece.end

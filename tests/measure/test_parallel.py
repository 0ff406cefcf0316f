"""Trials side by side: no more at once than asked, none lost, the first failure ends all."""

import asyncio
from collections.abc import Sequence

import pytest

from hardcost.controls.configuration import Configuration
from hardcost.errors import InputError, TrialError
from hardcost.machines.machine import Execution
from hardcost.measure import parallel
from hardcost.measure.prepare import prepare
from hardcost.model.role import Named
from hardcost.model.workload import Workload
from hardcost.plan.plan import Trial
from hardcost.protocol.answers import Answer
from hardcost.protocol.boot import Boot
from hardcost.protocol.requests import Request
from hardcost.store.record import Record
from tests.fakes.machine import FakeMachine
from tests.protocol.json_messages import typed

NULL = Workload("syscalls", (("calls", "null"),))


def answer(_boot: Boot, _job: Sequence[Request]) -> list[Answer]:
    return typed(
        [
            {"event": "hello"},
            {"event": "clock", "overhead": [3, 3]},
            {"event": "call", "name": "null", "samples": [103] * 25},
        ]
    )


def run(machine: FakeMachine, trials: int, jobs: int) -> list[str]:
    async def collect() -> list[str]:
        prepared = [
            prepare(Trial(Configuration(Named(f"c{n}")), NULL, "insn", seed=n), machine)
            for n in range(trials)
        ]
        found = parallel.execute_all(prepared, machine, jobs=jobs, limit_seconds=5)
        return [trial.trial.configuration.name async for trial, _ in found]

    return asyncio.run(collect())


@pytest.mark.parametrize("jobs", [1, 2, 7])
def test_every_trial_ends_once_and_never_more_than_jobs_run(jobs: int) -> None:
    machine = FakeMachine(answer)
    assert sorted(run(machine, 20, jobs)) == sorted(f"c{n}" for n in range(20))
    assert machine.most_at_once <= jobs


def test_no_trials_are_no_work() -> None:
    assert run(FakeMachine(answer), 0, 2) == []


def test_the_first_failure_stops_what_would_follow() -> None:
    def fail_third(boot: Boot, job: Sequence[Request]) -> list[Answer]:
        if boot.layout_seed == 3:
            raise TrialError("the guest died")
        return answer(boot, job)

    machine = FakeMachine(fail_third)
    with pytest.raises(TrialError, match="died"):
        run(machine, 50, 2)
    assert len(machine.started) <= 6


def test_of_two_that_fail_the_one_that_started_first_is_reported_whichever_ends_first() -> None:
    class Slow(FakeMachine):
        """Ends later jobs sooner."""

        async def execute(
            self, boot: Boot, job: Sequence[Request], limit_seconds: float
        ) -> Execution:
            await asyncio.sleep(0.05 * (2 - (boot.layout_seed or 0)))
            return await super().execute(boot, job, limit_seconds)

    def fail(boot: Boot, _job: Sequence[Request]) -> list[Answer]:
        raise TrialError(f"trial {boot.layout_seed} failed")

    with pytest.raises(TrialError, match=r"c0.*trial None failed"):
        run(Slow(fail), 3, 3)


def test_trials_that_started_before_one_that_fails_still_end() -> None:
    ended = []

    async def collect() -> None:
        def fail_last(boot: Boot, job: Sequence[Request]) -> list[Answer]:
            if boot.layout_seed == 2:
                raise TrialError("the guest died")
            return answer(boot, job)

        class Slow(FakeMachine):
            """Ends the job that fails first."""

            async def execute(
                self, boot: Boot, job: Sequence[Request], limit_seconds: float
            ) -> Execution:
                await asyncio.sleep(0 if boot.layout_seed == 2 else 0.05)
                return await super().execute(boot, job, limit_seconds)

        machine = Slow(fail_last)
        prepared = [
            prepare(Trial(Configuration(Named(f"c{n}")), NULL, "insn", seed=n), machine)
            for n in range(9)
        ]
        found = parallel.execute_all(prepared, machine, jobs=3, limit_seconds=5)
        async for trial, _ in found:
            ended.append(trial.trial.configuration.name)

    with pytest.raises(TrialError, match="died"):
        asyncio.run(collect())
    assert sorted(ended) == ["c0", "c1"]


def test_a_run_that_goes_on_yields_every_failure_and_every_record() -> None:
    def fail_odd(boot: Boot, job: Sequence[Request]) -> list[Answer]:
        if (boot.layout_seed or 0) % 2:
            raise TrialError("the guest died", console="its last words")
        return answer(boot, job)

    async def collect() -> dict[str, str]:
        machine = FakeMachine(fail_odd)
        prepared = [
            prepare(Trial(Configuration(Named(f"c{n}")), NULL, "insn", seed=n), machine)
            for n in range(6)
        ]
        found = parallel.execute_all(prepared, machine, jobs=2, limit_seconds=5, keep_going=True)
        return {
            trial.trial.configuration.name: getattr(came, "console", "")
            async for trial, came in found
        }

    assert asyncio.run(collect()) == {f"c{n}": "its last words" if n % 2 else "" for n in range(6)}


def test_the_users_own_mistake_fails_its_trial_and_ends_no_run_that_goes_on() -> None:
    def refuse(boot: Boot, job: Sequence[Request]) -> list[Answer]:
        if boot.layout_seed == 1:
            raise InputError("the kernel has no such setting")
        return answer(boot, job)

    async def collect(*, keep_going: bool) -> list[bool]:
        machine = FakeMachine(refuse)
        prepared = [
            prepare(Trial(Configuration(Named("c")), NULL, "insn", seed=seed), machine)
            for seed in (1, 2)
        ]
        found = parallel.execute_all(
            prepared, machine, jobs=1, limit_seconds=5, keep_going=keep_going
        )
        return [isinstance(came, Record) async for _, came in found]

    assert asyncio.run(collect(keep_going=True)) == [False, True]
    with pytest.raises(InputError, match="no such setting"):
        asyncio.run(collect(keep_going=False))


def test_the_measured_value_is_the_window_less_an_empty_one() -> None:
    async def one() -> tuple[float, ...]:
        machine = FakeMachine(answer)
        prepared = [prepare(Trial(Configuration(Named("c")), NULL, "insn", seed=0), machine)]
        found = parallel.execute_all(prepared, machine, jobs=1, limit_seconds=5)
        records = [record async for _, record in found if isinstance(record, Record)]
        return records[0].measured[0].samples

    assert asyncio.run(one()) == (100.0,) * 25

"""Trees are copied and removed in a guest, the same each time; a copy that fails is no number."""

from __future__ import annotations

from pathlib import Path

import pytest

from hardcost.errors import TrialError
from hardcost.protocol.ask import run
from tests.vm.workload_runs import ENFORCING, work

pytestmark = [pytest.mark.vm, pytest.mark.slow]

FEW = {"files": "20"}


@pytest.mark.lengthy
def test_copies_made_at_once_cost_the_same_each_time_to_the_last_instruction(
    cache_root: Path,
) -> None:
    first, second = (work(cache_root, "filecopy", FEW | {"concurrency": "3"}) for _ in range(2))
    assert first == second
    assert first["wall"] == first["copy"] + first["remove"]


def test_each_copy_more_is_more_work(cache_root: Path) -> None:
    one, two = (work(cache_root, "filecopy", FEW | {"concurrency": str(n)}) for n in (1, 2))
    assert 1.2 * one["copy"] < two["copy"]
    assert 1.2 * one["remove"] < two["remove"]


def test_selinux_lets_a_user_copy_and_costs_something(cache_root: Path) -> None:
    free = work(cache_root, "filecopy", FEW)
    enforcing = work(cache_root, "filecopy", FEW, words=ENFORCING)
    assert free["wall"] < enforcing["wall"] < 2 * free["wall"]


def test_a_disk_that_is_full_is_reported_in_the_words_of_cp(cache_root: Path) -> None:
    script = "fallocate -l $(($(stat -f -c '%a * %S' /) - 100000)) /fill"
    fill = run("fill", ["/bin/sh", "-c", script])
    with pytest.raises(TrialError, match=r"copying the tree.*No space left on device"):
        work(cache_root, "filecopy", FEW, before=[fill])


@pytest.mark.parametrize(
    "change",
    [
        "printf x | dd of=$file bs=1 seek=5 conv=notrunc",
        "rm $file",
        "chmod u+x,g+x $file",
        "touch ${file%/*}/new",
    ],
)
def test_a_copy_that_differs_from_its_source_is_never_a_number(
    change: str, cache_root: Path
) -> None:
    script = f"file=$(find /home/user/copy_2 -type f | sort | tail -n 1); {change}"
    changed = ("copy", run("change", ["/bin/sh", "-c", script]))
    with pytest.raises(TrialError, match="not equal to its source: copy_2"):
        work(cache_root, "filecopy", FEW | {"concurrency": "2"}, after=changed)

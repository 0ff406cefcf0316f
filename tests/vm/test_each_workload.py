"""Each workload, as small as it can be, runs in a guest and yields its metrics.

What else is to be said of them is in tests of their own, most of which are slow.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from hardcost.workloads.registry import FILES
from tests.vm.workload_runs import work

pytestmark = pytest.mark.vm

ONE_CLIENT = {"concurrency": "1", "requests": "10"}
SMALLEST: dict[str, tuple[dict[str, str], set[str]]] = {
    "syscalls": ({"calls": "null+open"}, {"null", "open"}),
    "syscalls-more": ({"calls": "ptrace"}, {"ptrace"}),
    "command": ({"file": "program", "runs": "2"}, {"wall"}),
    "build": ({"compiler": "tcc", "files": "1"}, {"wall", "user", "system"}),
    "filecopy": ({"files": "5"}, {"wall", "copy", "remove", "user", "system"}),
    "fio": ({"size": "1", "cases": "latency-read"}, {"latency-read"}),
    "dd": ({"count": "1", "cases": "fsync"}, {"fsync"}),
    "unixbench": ({"tests": "system-call"}, {"system-call"}),
    "apache-prefork": (ONE_CLIENT, {"ab-1", "all"}),
    "apache-worker": (ONE_CLIENT, {"ab-1", "all"}),
    "postfix": ({"concurrency": "1", "mails": "2"}, {"sent-1", "delivered-1", "all"}),
    "boot": ({}, {"until-ready"}),
    "memory": ({}, {"static", "slab", "page-tables"}),
    "mariadb": ({"concurrency": "1", "transactions": "2", "rows": "10"}, {"oltp-1", "all"}),
}
"""The smallest parameters of each workload, and the metrics that it then yields."""


@pytest.mark.parametrize("name", FILES)
def test_it_yields_its_metrics(
    name: str,
    cache_root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    compiled: Callable[[str], bytes],
) -> None:
    if name == "command":
        monkeypatch.chdir(tmp_path)
        Path("program").write_bytes(compiled("int main(void) { return 0; }"))
    parameters, metrics = SMALLEST[name]
    found = work(cache_root, name, parameters)
    assert found.keys() == metrics
    assert min(found.values()) > 0

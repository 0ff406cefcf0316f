"""Every verb that works on a machine, end to end on one that computes its answers.

What is printed is compared, word for word, with the texts beside this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.cli.verbs.spoken import check, said

if TYPE_CHECKING:
    from pathlib import Path

RULES = """\
-w /etc/passwd -p wa -k identity
-a always,exit -F arch=b64 -S open -F success=0 -k denied
-a always,exit -F arch=b64 -S chmod,fchmod -k modes
-a always,exit -F arch=b64 -S mount -k mounts
"""
STUDY = """\
title = "Three settings"
workloads = ["syscalls calls=null+open"]
baseline = "none"
[[configuration]]
name = "none"
[[configuration]]
name = "zeroed"
boot = ["init_on_alloc=1"]
[[configuration]]
name = "stacks"
sysctl = { "kernel.randomize_va_space" = "2" }
"""
BROKEN = """\
title = "Some fail"
workloads = ["syscalls calls=null"]
baseline = "none"
[[configuration]]
name = "none"
[[configuration]]
name = "dies"
boot = ["fake=fail"]
[[configuration]]
name = "hangs"
boot = ["fake=hang"]
[[configuration]]
name = "no boot"
boot = ["fake=unbootable"]
[[configuration]]
name = "odd"
boot = ["nosuch=1"]
"""
INTERRUPTED = """\
title = "Somebody presses Ctrl-C"
workloads = ["syscalls calls=null"]
baseline = "none"
[[configuration]]
name = "none"
[[configuration]]
name = "then"
boot = ["fake=interrupt"]
"""
KERNELS = """\
title = "Two options"
kernel = "lean"
kconfig = ["SLUB_DEBUG_ON=y", "INIT_STACK_ALL_ZERO=y"]
"""
FILES = {
    "my.rules": RULES,
    "few.rules": "".join(RULES.splitlines(keepends=True)[:2]),
    "study.toml": STUDY,
    "broken.toml": BROKEN,
    "interrupted.toml": INTERRUPTED,
    "kernels.toml": KERNELS,
}
ON = "--machine fake --jobs 1"
CALLS = f"{ON} --workload 'syscalls calls=null+chmod'"


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with an empty store and an empty cache."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARDCOST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("HARDCOST_STORE", str(tmp_path / "store" / "x.sqlite"))
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)


CONVERSATIONS = {
    "run": (
        f"run study.toml {ON} --dry-run",
        f"run study.toml {ON} --dry-run --format json",
        f"run study.toml {ON}",
        f"run study.toml {ON} --seeds 2 --format json",
        f"run study.toml {ON} --resume",
        f"run study.toml {ON} --fresh --progress none",
        "list runs",
    ),
    "run-failures": (
        f"run broken.toml {ON}",
        f"run broken.toml {ON} --format json --progress json",
        "report last",
    ),
    "run-interrupted": (
        f"run interrupted.toml {ON}",
        "list runs",
        f"run interrupted.toml {ON} --resume --progress json",
        "report last",
    ),
    "bill-single": (
        f"bill my.rules {CALLS} --dry-run",
        f"bill my.rules {CALLS}",
        f"bill my.rules {CALLS} --format json --fresh",
        f"bill --sysctl vm.overcommit_memory=2 --boot init_on_alloc=1 {CALLS}",
    ),
    "bill-budget": (f"bill my.rules {CALLS} --budget 'chmod<=100%,20%'",),
    "bill-search": (
        f"bill my.rules {CALLS} --method search --dry-run",
        f"bill my.rules {CALLS} --method search",
        f"bill kernels.toml {CALLS} --format json --most 5",
    ),
    "bill-several": (f"bill my.rules few.rules {CALLS} --budget 20%",),
    "bill-failures": (
        f"bill --boot fake=slow --boot init_on_alloc=1 {CALLS} --timeout 50",
        f"bill --boot fake=slow --boot init_on_alloc=1 {CALLS} --resume",
        f"bill --boot fake=unbootable {CALLS}",
        f"bill --boot nosuch=1 {CALLS}",
        f"bill --sysctl kernel.nosuch=1 {CALLS} --progress json",
        f"bill --boot fake=interrupt {CALLS}",
    ),
    "compare": (
        f"run study.toml {ON} --progress none",
        f"bill few.rules {CALLS} --budget 1000% --progress none",
        f"run study.toml {ON} --workload 'syscalls calls=null' --progress none",
        "compare study last",
        "compare bill last",
        "compare bill last --format json",
        "report bill --format json",
        "report study",
        "report nothing",
    ),
    "machines": (
        "list machines",
        "run study.toml --machine nosuch",
        f"run study.toml {ON} --instrument time",
    ),
}


@pytest.mark.parametrize("name", CONVERSATIONS)
def test_a_verb_says_what_it_always_said(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    check(name, "\n".join(said(words, capsys) for words in CONVERSATIONS[name]))

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "every-call"


def test_trees_and_rules_without_calls_are_tried_by_every_call(lint: Lint) -> None:
    found = lint(
        CODE,
        "-w /etc/ -p wa -k a",
        "-a always,exit -F dir=/srv -F perm=wa -k b",
        "-a always,exit -F exe=/bin/su -S all -k c",
        "-a always,exit -S all -F exit=-EINVAL -k d",
        "-a never,exit -F auid=unset -F uid=7",
    )
    assert [one.spot.line for one in found] == [1, 2, 3, 4, 5]
    assert all(one.cost is not None and one.cost.instructions > 0 for one in found)
    assert all("getppid" in str(one.cost) for one in found)


def test_a_watched_file_named_calls_and_other_lists_cost_other_calls_nothing_of_the_kind(
    lint: Lint,
) -> None:
    assert not lint(
        CODE,
        "-w /etc/shadow -p wa -k a",
        "-a always,exit -F arch=b64 -S open -F dir=/etc -k b",
        "-a never,task",
        "-a never,exclude -F msgtype=CWD",
    )


def test_a_watch_without_a_slash_counts_where_a_directory_lies_there(
    lint: Lint, tmp_path: Path
) -> None:
    (tmp_path / "etc").mkdir()
    assert lint(CODE, "-w /etc -p wa -k a", root=tmp_path)
    assert not lint(CODE, "-w /etd -p wa -k a", root=tmp_path)

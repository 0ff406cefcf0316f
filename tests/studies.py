"""Studies that tests in several folders measure."""

from __future__ import annotations

from collections.abc import Iterable


def of_rules(title: str, calls: str, values: Iterable[int]) -> str:
    """Return a study of some calls, such as `null+open`, under so many rules that match nothing."""
    return f"""
title = "{title}"
workloads = ["syscalls calls={calls}"]
baseline = "rules=0"
[base]
audit.enabled = true
[[axis]]
name = "rules"
values = {list(values)}
audit.repeat = "-a always,exit -F arch=b64 -S swapon -F uid={{n}}"
audit.from = 70001
"""

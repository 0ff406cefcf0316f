"""The workloads, each with the file of this folder that defines it: a line for each.

Whoever adds a workload adds its line here. Completion reads this and imports nothing else.
"""

from __future__ import annotations

FILES = {
    "syscalls": "syscalls",
    "syscalls-more": "syscalls_more",
    "command": "command",
    "build": "build",
    "filecopy": "filecopy",
    "fio": "fio",
    "dd": "dd",
    "unixbench": "unixbench",
    "apache-prefork": "apache",
    "apache-worker": "apache",
    "postfix": "postfix",
    "mariadb": "mariadb",
    "boot": "boot",
    "memory": "memory",
}
"""In the order in which lists show them."""

"""The tasks of an Ansible role for a mechanism's controls, in groups, with values and files.

Audit rules, sysctls and GRUB's words are files, which Ansible copies as they are. Other text of a
profile is a value that is `Outside`: Ansible must not evaluate it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Outside:
    """Texts from outside, which Ansible must not evaluate: a list, or by name.

    They are tagged together. Ansible would make a number of a text such as "2" that is tagged
    itself, whether quoted or not.
    """

    texts: Mapping[str, str] | Sequence[str]


@dataclass(frozen=True)
class TaskGroup:
    """A file of tasks: its subject, its number of controls, their values and files.

    Values are named without the role's name in front; ROLE stands for it in the names of files.
    What `can_refuse` a machine comes after all others.
    """

    name: str
    about: str
    controls: int
    values: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    can_refuse: bool = False

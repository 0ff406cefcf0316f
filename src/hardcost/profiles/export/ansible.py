"""A profile as an Ansible role: fixed tasks and handlers, with the profile's files and values.

The tasks are those in `role/`, with ROLE replaced by the role's name. Nothing that a profile says
is replaced or evaluated: it is in files, or in `vars/main.yml` tagged `!unsafe`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any

import yaml

from hardcost.controls.control import Profile
from hardcost.errors import InputError
from hardcost.mechanisms.ansible import Outside, TaskGroup
from hardcost.mechanisms.export import Left, on_one_line
from hardcost.mechanisms.registry import ALL

_ROLE = "ROLE"
_NAME = re.compile(r"[a-z][a-z0-9_]{0,63}")
_OLDEST_ANSIBLE = "2.14"  # Debian 12's

_README = """\
# {role}

The controls of the hardcost profile {profile}, as a role. {title}

| sets | controls | switched off by |
| --- | --- | --- |
{rows}

```yaml
- hosts: all
  become: true
  roles:
    - {role}
```

The role adds to what a machine has: other files in `/etc/audit/rules.d` and `/etc/sysctl.d` stay. \
It does not reboot; boot parameters hold from the next boot on. Its tasks for the Red Hat family \
have only been checked by ansible-lint: try them on one machine first.
{left}"""

_LEFT = """
## What the role does not set

```text
{lines}
```
"""


@dataclass(frozen=True)
class AnsibleRole:
    """A role's files by their paths in its folder, and the controls that it has not, with why."""

    files: Mapping[str, str]
    controls: int
    left: tuple[Left, ...]


class _Dumper(yaml.SafeDumper):
    """Writes YAML as yamllint wants it, with lists indented."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002, FBT001, FBT002  (PyYAML's)
        """Indent a list below its key."""
        super().increase_indent(flow, indentless=False)

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002  (PyYAML's)
        """Write equal values again."""
        return True


def _unsafe(dumper: yaml.SafeDumper, outside: Outside) -> yaml.Node:
    """Return texts with the tag of values that Ansible does not evaluate."""
    if isinstance(outside.texts, Mapping):
        return dumper.represent_mapping("!unsafe", outside.texts, flow_style=False)
    return dumper.represent_sequence("!unsafe", outside.texts, flow_style=not outside.texts)


_Dumper.add_representer(Outside, _unsafe)


def role_of(profile: Profile, name: str) -> AnsibleRole:
    """Return a profile as a role; `name` is that of the role, its variables and its files.

    Raises:
        InputError: No role can have this name, or the profile has nothing for a role.
    """
    if _NAME.fullmatch(name) is None:
        raise InputError(
            f"a role can't be called {name!r}",
            hint="name the folder as the role: lower-case letters, digits and _, such as my_role",
        )
    groups, left = _groups(profile)
    if not groups:
        raise InputError(f"the profile {profile.name} has nothing that a role can set")
    names = [group.name for group in groups]
    files = {
        "README.md": _readme(profile, name, groups, left),
        "defaults/main.yml": _yaml({f"{name}_{one}": True for one in names}),
        "handlers/main.yml": _template("handlers/main.yml", name),
        "meta/argument_specs.yml": _yaml(_arguments(name, groups)),
        "meta/main.yml": _yaml(_meta(name)),
        "tasks/main.yml": _yaml([_import(name, group) for group in groups]),
        **{f"tasks/{one}.yml": _template(f"tasks/{one}.yml", name) for one in names},
    }
    values = {f"{name}_{key}": value for one in groups for key, value in one.values.items()}
    if values:
        files["vars/main.yml"] = _yaml(values)
    for group in groups:
        for at, text in group.files.items():
            files[f"files/{at.replace(_ROLE, name)}"] = text
    done = sum(group.controls for group in groups)
    return AnsibleRole(dict(sorted(files.items())), done, left)


def _groups(profile: Profile) -> tuple[tuple[TaskGroup, ...], tuple[Left, ...]]:
    """Return the groups of tasks, in their order, and the controls that they can't set, with why.

    What can refuse a machine comes last.
    """
    groups, left = list[TaskGroup](), list[Left]()
    for mechanism in ALL:
        own, lacking = mechanism.ansible_tasks(profile)
        groups += (one for one in own if one.controls)
        left += lacking
    return tuple(sorted(groups, key=lambda one: one.can_refuse)), tuple(left)


def _template(at: str, name: str) -> str:
    """Return a file of the role that is the same for every profile."""
    text = (resources.files("hardcost.profiles.export") / "ansible_role" / at).read_text(
        encoding="utf-8"
    )
    return text.replace(_ROLE, name)


def _yaml(data: object) -> str:
    text = yaml.dump(data, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=100)
    return f"---\n{text}"


def _import(name: str, group: TaskGroup) -> dict[str, Any]:
    return {
        "name": f"Set {group.about}",
        "ansible.builtin.import_tasks": f"{group.name}.yml",
        "when": f"{name}_{group.name} | bool",
    }


def _meta(name: str) -> dict[str, Any]:
    return {
        "galaxy_info": {
            "role_name": name,
            "author": "hardcost",
            "description": "The controls of a hardcost profile",
            "license": "Apache-2.0",
            "min_ansible_version": _OLDEST_ANSIBLE,
            "platforms": [
                {"name": "Debian", "versions": ["bookworm", "trixie"]},
                {"name": "EL", "versions": ["9"]},
            ],
            "galaxy_tags": ["hardening", "security"],
        },
        "dependencies": [],
    }


def _arguments(name: str, groups: Sequence[TaskGroup]) -> dict[str, Any]:
    options = {
        f"{name}_{group.name}": {
            "type": "bool",
            "default": True,
            "description": f"Set {group.about}.",
        }
        for group in groups
    }
    main = {"short_description": "The controls of a hardcost profile", "options": options}
    return {"argument_specs": {"main": main}}


def _readme(profile: Profile, name: str, groups: Sequence[TaskGroup], left: Sequence[Left]) -> str:
    rows = [
        f"| {group.about} | {group.controls} | `{name}_{group.name}: false` |" for group in groups
    ]
    lines = "\n".join(f"{on_one_line(control)}: {why}" for control, why in left)
    return _README.format(
        role=name,
        profile=_code(profile.name),
        title=_code(profile.title),
        rows="\n".join(rows),
        left=_LEFT.format(lines=lines) if lines else "",
    )


def _code(text: str) -> str:
    """Return text as Markdown that shows it as it is, in a row of backticks that it has not."""
    line = on_one_line(text)
    fence = "`" * (max(map(len, re.findall("`+", line)), default=0) + 1)
    return f"{fence} {line} {fence}"

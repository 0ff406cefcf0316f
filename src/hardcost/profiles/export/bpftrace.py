"""Scripts for bpftrace, which count on the user's machine what a decision about rules rests on.

The scripts are those in `bpftrace/`, the same for every profile. A page beside them says how they
are run, and lists the profile's keys: a key that `records.bt` never prints has cost without use.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources

from hardcost.controls.control import Profile
from hardcost.errors import InputError
from hardcost.mechanisms.audit import audit_rules
from hardcost.mechanisms.export import on_one_line

_SCRIPTS = ("calls.bt", "filter.bt", "records.bt")

_README = """\
# What audit rules meet on this machine

Run each script as root while the machine does its usual work; each ends after a minute, or with \
Ctrl-C. They take bpftrace and a kernel with BTF (`/sys/kernel/btf/vmlinux`).

```sh
bpftrace calls.bt > calls.txt        # calls by architecture, login and number
bpftrace records.bt > records.txt    # audited events by key, and records
bpftrace filter.bt > filter.txt      # the time that calls spend in audit
hardcost rules cost RULES --histogram calls.txt
```

`filter.bt` gives times of this machine, with the probes' own time in them. The others count, and \
slow each call down while they run.

## The keys of the profile

A rule whose key `records.txt` never has recorded nothing meanwhile.

```text
{keys}
```
"""


def scripts(profile: Profile) -> Mapping[str, str]:
    """Return the scripts and their page, by their names.

    Raises:
        InputError: The profile has no audit rules.
    """
    rules = audit_rules(profile.controls)
    if not rules:
        raise InputError(f"the profile {profile.name} has no audit rules to count for")
    keys = dict.fromkeys(on_one_line(rule.key) for rule in rules if rule.key)
    folder = resources.files("hardcost.profiles.export") / "bpftrace_scripts"
    return {
        "README.md": _README.format(keys="\n".join(f"- {key}" for key in keys)),
        **{name: (folder / name).read_text(encoding="utf-8") for name in _SCRIPTS},
    }

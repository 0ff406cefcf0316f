"""Profiles for other programs: an Ansible role, bpftrace, an XCCDF tailoring.

An export lists what it lacks.

- `ansible.py`: a role: `ansible_role/` has its fixed tasks and handlers
- `bpftrace.py`: the page beside the scripts of `bpftrace_scripts/`
- `tailoring.py`: what a decision unselects

Rules, sysctls, boot words and kernel options are written by `mechanisms/audit.py`,
`mechanisms/sysctl.py`, `mechanisms/boot.py` and `mechanisms/kconfig.py`; waivers in
`show/exports/waivers.py`; findings in `show/exports/`.
"""

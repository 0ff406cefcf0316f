"""Profiles out of the files of other tools.

Nothing that is read is executed. One faulty entry does not refuse a file.

- `sysctl.py`: files of sysctls as systemd-sysctl reads them: order, overriding, which files
- `sysctl_keys.py`: keys without a lasting effect
- `khc.py`: reports of kernel-hardening-checker, and which checks become controls
- `scap`: a folder of its own

What is a sysctl's name, pattern or template is decided in `mechanisms/sysctl.py`. Audit rules are
read by `auditrules`.
"""

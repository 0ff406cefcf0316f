"""The machines that a user is shown; help and completion read this and import nothing else."""

from __future__ import annotations

TITLES = {
    "vm": "a guest under QEMU: emulated and exact, or KVM for time",
    "host": "this machine itself, for time; it is changed only with --yes, by root",
    "ssh:USER@HOST": "another machine over OpenSSH, for time; it is left as it was",
}
"""The machines that a user is shown, each with what it is."""

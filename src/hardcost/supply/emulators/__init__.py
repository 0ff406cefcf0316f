"""Emulators: the QEMU that runs guests, this host's or one that is brought.

One that is brought is not installed. It runs with its own loader, libraries, modules and firmware,
without root and without changing its root. Nothing here starts a guest.

- `names.py`: the QEMU of a name, as `--qemu` takes it
- `debian.py`: fetches the QEMU of a release of Debian, and keeps it
- `releases.py`, `releases.toml`: which releases, with the versions and hashes that were tried
- `emulator.py`: how one is started, and found in a folder; what of it decides counts
"""

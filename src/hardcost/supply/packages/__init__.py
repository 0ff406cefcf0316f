"""Packages of distributions: found, fetched, verified and unpacked without root.

Nothing is installed, no script of a package runs, and what unpacks one is confined.

- `debian.py`: fetches Debian's packages, and finds kernels and sources by version
- `host_release.py`: which release's packages this host uses; `guest_release.py`: which release's
  guests are made of
- `apt.py`: by the host's apt; `apt_sources.py`: which of its sources are Debian's
- `mirror.py`: from Debian's archive: addresses, signed lists and their age, bounds
- `signatures.py`: gpgv; `version.py`: the order of versions
- `unpack.py`: has `unpack_child.py` unpack one, in a sandbox, within limits that both set
- `archive.py`: bounds of archives; `deb.py`, `rpm.py`: the two forms
"""

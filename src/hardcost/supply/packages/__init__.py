"""Packages of distributions: found, fetched, verified and unpacked without root.

Nothing is installed, no script of a package runs, and what unpacks one is confined.

`debian.py` fetches Debian's packages, by `apt.py` where the host has apt, else by `mirror.py`.
`unpack.py` has `unpack_child.py` unpack one, in a sandbox.
"""

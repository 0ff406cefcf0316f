"""Disks of guests: made from Debian, brought by the user, or filled with sources.

A disk is never written to after it was made, and nothing is mounted on this host.

`root_image.py` is a disk as the others return it. `ext4.py` makes file systems without mounting;
`user_namespace.py` and `walk.py` work as root on files of a root.
"""

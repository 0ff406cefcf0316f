"""What is in a guest: its initramfs, packages, compiler and disks.

The same content gives the same bytes.

`initramfs.py` packs what a guest starts from, by `cpio.py`: programs and libraries of
`packages.py`, kernel modules of `modules.py`, a compiler of `compiler.py`. `disks.py` finds the
disks.
"""

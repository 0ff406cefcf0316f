"""The content of a guest: its initramfs, packages, compiler and disks.

The same content gives the same bytes.

- `initramfs.py`: packs what a guest starts from: programs, users, auditctl and its packages
- `cpio.py`: the archive's form
- `packages.py`: files of Debian packages, and the libraries that they need
- `modules.py`: which kernel modules a guest loads
- `compiler.py`: the packages and sources of the workload `build`
- `disks.py`: which root and source tree a guest gets

The packages of a Debian guest are listed in `supply/images/debian.py`.
"""

"""Disks of guests: made from Debian, brought by the user, or filled with sources.

A disk is never written to after it was made, and nothing is mounted on this host.

- `debian.py`: the Debian guest: packages, size and set-up (`debian-setup.sh`); `names.py`: the list
  of such images
- `user_root.py`: an image or folder of the user's; `user_root_kernel.py`: its own kernel;
  `partitions.py`: what a disk holds
- `source_tree.py`: Linux's source for `filecopy`
- `root_image.py`: a disk as all of these return it; `record.py`: what the cache keeps of it;
  `resize.py`: the same with more room
- `ext4.py`: makes file systems, and dates their files; `ext4_contents.py`: puts files into them, in
  order
- `selinux_labels.py`: labels of files
- `user_namespace.py`: runs programs as root over files; `walk.py`: one that lists them
"""

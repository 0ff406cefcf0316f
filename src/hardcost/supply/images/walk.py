"""List a tree of files, one JSON array a line: a separate program, run as root over the tree.

It imports nothing of hardcost, since it runs by itself, in a namespace where all owners are mapped.
"""

from __future__ import annotations

import base64
import json
import os
import stat
import sys


def entry(tree: str, path: str) -> list[object]:
    """Return path, mode, owner, group, times, inode, target, and attributes of a file."""
    full = os.path.join(tree, path)  # noqa: PTH118  (bytes that are not text stay as they are)
    status = os.lstat(full)
    attributes = {
        name: base64.b64encode(os.getxattr(full, name, follow_symlinks=False)).decode()
        for name in os.listxattr(full, follow_symlinks=False)
        if name != "security.selinux"  # the host's; the guest has its own
    }
    target = os.readlink(full) if stat.S_ISLNK(status.st_mode) else ""  # noqa: PTH115  (as above)
    place = f"{status.st_dev}:{status.st_ino}" if status.st_nlink > 1 else ""
    times = int(status.st_mtime)
    return [path, status.st_mode, status.st_uid, status.st_gid, times, place, target, attributes]


def main(tree: str) -> None:
    """Print all of a tree except mounts in it."""
    device = os.lstat(tree).st_dev
    for folder, folders, names in os.walk(tree):
        inside = os.path.relpath(folder, tree)
        folders[:] = [
            name
            for name in folders
            if os.lstat(os.path.join(folder, name)).st_dev == device  # noqa: PTH118  (as above)
        ]
        for name in (*folders, *names):
            path = os.path.normpath(os.path.join(inside, name))  # noqa: PTH118  (as above)
            sys.stdout.write(json.dumps(entry(tree, path)) + "\n")
    sys.stdout.write(json.dumps(entry(tree, ".")) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])

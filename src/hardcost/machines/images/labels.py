"""SELinux's labels: which file gets which, and writing them into an image.

Labels can't be given to files on the host without being its root, and a host with SELinux would
have its own say. So they are worked out for the tree, and written into the image as what they are
there: extended attributes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hardcost.errors import MachineError
from hardcost.machines.images import ext4
from hardcost.machines.images.namespace import as_root
from hardcost.machines.process import run

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ATTRIBUTE = "security.selinux"
_CONTEXTS = "etc/selinux/default/contexts/files/file_contexts"
_OF_LOST_AND_FOUND = "system_u:object_r:lost_found_t:s0"
_NONE = "<<none>>"
_LIMIT_SECONDS = 600.0


def computed(tree: Path) -> dict[str, str]:
    """Return the label of each file of a Debian root, by its path in it, as its policy has them.

    They are worked out by the root's own `matchpathcon`. A root without a policy has none; files
    that the policy leaves alone are left out.

    Raises:
        MachineError: The root's programs don't run here.
    """
    if not (tree / _CONTEXTS).is_file():
        return {}
    script = f"find / -xdev -print0 | xargs -0 matchpathcon -f /{_CONTEXTS}"
    said = run(as_root(["chroot", tree, "sh", "-c", script]), limit_seconds=_LIMIT_SECONDS)
    found = {"/lost+found": _OF_LOST_AND_FOUND}  # which the tree has not, but the image
    for line in said.splitlines():
        path, tab, context = line.rpartition("\t")
        if not tab:
            raise MachineError(f"matchpathcon said {line!r} of a file in {tree}")
        if context != _NONE:
            found[path] = context
    return found


def write(image: Path, contexts: Mapping[str, str], script: Path) -> None:
    """Write labels into an image whose files were made of the tree that they are of.

    Raises:
        MachineError: The image has no such file.
    """
    commands = (
        f'ea_set {ext4.quoted(path)} {ATTRIBUTE} "{context}"'
        for path, context in sorted(contexts.items())
    )
    ext4.change(image, commands, script)

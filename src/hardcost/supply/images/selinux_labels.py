"""SELinux's labels for the files of an image.

Setting labels on the host's files would need root, and a host with SELinux would interfere. So the
labels are computed for the tree, and written into the image as what they are there, extended
attributes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from hardcost.errors import MachineError
from hardcost.host.process import run
from hardcost.supply.images.ext4_contents import ImageFile
from hardcost.supply.images.user_namespace import as_root

ATTRIBUTE = "security.selinux"
_CONTEXTS = "etc/selinux/default/contexts/files/file_contexts"
_NONE = "<<none>>"
_LIMIT_SECONDS = 600.0


def compute_labels(tree: Path) -> dict[str, str]:
    """Return the label of each file of a Debian root, by its path in it, according to its policy.

    The root's own `matchpathcon` computes them. A root without a policy has none; files that the
    policy does not label are left out.

    Raises:
        MachineError: The root's programs don't run here.
    """
    if not (tree / _CONTEXTS).is_file():
        return {}
    script = f"find / -xdev -print0 | xargs -0 matchpathcon -f /{_CONTEXTS}"
    output = run(as_root(["chroot", tree, "sh", "-c", script]), limit_seconds=_LIMIT_SECONDS)
    found = {}
    for line in output.splitlines():
        path, tab, context = line.rpartition("\t")
        if not tab:
            raise MachineError(f"matchpathcon printed {line!r} for a file in {tree}")
        if context != _NONE:
            found[path] = context
    return found


def add_labels(files: Iterable[ImageFile], contexts: Mapping[str, str]) -> list[ImageFile]:
    """Return files with their labels, by their paths."""
    found = []
    for one in files:
        context = contexts.get(str(Path("/") / one.path))
        label = {} if context is None else {ATTRIBUTE: context.encode()}
        found.append(replace(one, attributes={**one.attributes, **label}))
    return found

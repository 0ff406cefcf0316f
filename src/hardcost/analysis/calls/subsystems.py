"""Cost by subsystem: a function's instructions, under the file and the folder that it is in.

A tree by place, where stacks are one by callers. Its parts add up to the same cost. What is not
known stays a part with a number: `[file not known]` for the kernel's functions that the table of
files lacks, `[unknown]` for kernel code without a symbol.
"""

from __future__ import annotations

from hardcost.instruments.kernel_source import file_of, module_of
from hardcost.model.call_tree import CallTree, Frame, FramePath
from hardcost.model.finding.calls import KERNEL

PROGRAMS, UNKNOWN, NO_FILE = "programs", "[unknown]", "[file not known]"
_FOLDERS = 2  # of a file's path, that name a subsystem
_AUDIT = "audit"
_AUDITS = (["kernel"], ["arch"], ["lib"])
"""The folders whose files of that name are audit's; those of `security/` are the modules' own."""


def places(tree: CallTree) -> list[FramePath]:
    """Return where each frame's code is, by its number: from the kernel or programs down."""
    found: list[FramePath] = [()]
    processes = [""]
    for frame in tree.frames:
        process = frame.name if frame.kind == "process" else processes[frame.above]
        processes.append(process)
        found.append(_place(frame, process))
    return found


def _place(frame: Frame, process: str) -> FramePath:
    if frame.kind == "process":
        return (frame.name,)
    if frame.kind == "user":
        return PROGRAMS, process, frame.name
    file, module = file_of(frame.name), module_of(frame.name)
    if file is not None:
        return KERNEL, subsystem(file), file, frame.name
    if module is not None:
        return KERNEL, f"module {module}", frame.name
    return KERNEL, UNKNOWN if frame.name == UNKNOWN else NO_FILE, frame.name


def subsystem(file: str) -> str:
    """Return the subsystem of a file or folder of Linux's source.

    It is the first two folders, such as `fs/ext4`, or the only one. Files of audit lie in several
    folders, by the name; they are one subsystem.
    """
    *folders, name = file.split("/")
    if name.startswith(_AUDIT) and folders[:1] in _AUDITS:
        return _AUDIT
    if "." not in name:
        folders.append(name)  # it is a folder
    return "/".join(folders[:_FOLDERS]) or UNKNOWN

"""The points that QEMU's plugin notes in a traced guest: the kernel's functions, and readings."""

from __future__ import annotations

import base64
from collections.abc import Iterator, Sequence

from hardcost.machines.vm.plugin import elf_symbols
from hardcost.protocol.requests import Install, Request

RDTSC = b"\x0f\x31"
"""The instruction that reads the clock."""

CALLER = "hardcost-caller"
"""Our program whose readings are noted: it makes the call that is traced."""

_CALLS = ("__x64_sys_", "__do_sys_", "__ia32_sys_", "__ia32_compat_sys_")
_NOTED = frozenset(
    {
        "skb_free_datagram",  # a message was taken from a socket: of a netlink socket, a record
        "fanotify_handle_event",  # a process asks a daemon whether it may open a file
        "generic_file_write_iter",
        "ext4_file_write_iter",
        "ext4_buffered_write_iter",
        "btrfs_file_write_iter",
        "xfs_file_write_iter",
    }
)
_ASKING = frozenset(  # into the first of which compilers put the others, or some of them
    {"fanotify_handle_event", "fanotify_alloc_perm_event", "fanotify_get_response"}
)
_ANSWERING = frozenset({"fanotify_write", "process_access_response", "finish_permission_event"})
_NEW = "wake_up_new_task"
_WAKING = ("ttwu_do_wakeup", "ttwu_do_activate")  # up to Linux 6.3, and from then on
_WORDS = 3


def _kinds(name: str, waking: str | None) -> Iterator[str]:
    """Yield as what the plugin is to note a function; processes are made to run by `waking`."""
    if name.startswith(_CALLS) or name in _NOTED:
        yield "traced"
    plain = name.partition(".")[0]  # the compiler may have made a part of it
    if plain in _ASKING:
        yield "asks"
    if plain in _ANSWERING:
        yield "answers"
    if name in {waking, _NEW}:
        yield "wakes"


def trace_lines(kernel: str, job: Sequence[Request]) -> Iterator[str]:
    """Yield the plugin's lines, from its lines of the kernel's functions and the job's programs."""
    functions: dict[str, str] = {}
    for line in kernel.splitlines():
        kind, address, name = [*line.split(" ", _WORDS - 1), "", ""][:_WORDS]
        if kind == "kernel":
            functions.setdefault(name.partition(" ")[0], address)  # without its module
    waking = next((name for name in _WAKING if name in functions), None)
    for name, address in functions.items():
        yield from (f"{kind} {address}" for kind in _kinds(name, waking))
    for request in job:
        if isinstance(request, Install) and request.path.endswith(f"/{CALLER}"):
            content = base64.b64decode(request.base64)
            for place in elf_symbols.places_of(content, RDTSC):
                yield f"mark {place:x}"

"""The workload `filecopy`: a tree of real source files copied several times at once, then removed.

`seq 1 N | xargs -P 0 -i cp -a TREE COPY_{}`, as published, by a user who has logged in; the tree
is Linux's source, or an even part of it, on a disk of its own. The page cache is dropped before.
What was copied is compared with its source before it is removed; that is not measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field

from hardcost.errors import TrialError
from hardcost.instruments.instrument import Instrument
from hardcost.instruments.parallel import PARALLEL
from hardcost.instruments.windows import Together, Windows
from hardcost.protocol.answers import Answer
from hardcost.protocol.requests import DropCaches, Request
from hardcost.workloads import programs
from hardcost.workloads.kind import WorkloadKind
from hardcost.workloads.metric import MetricSamples
from hardcost.workloads.parameters import WorkloadParameters, whole_number

_MOST_FILES = 1_000_000  # more than there are: it stands for all
_THERE_ARE = 80_000  # files in Linux's source, about
_FOR_EACH_FILE = 18_000  # bytes on the disk, directories among them
_MOST_AT_ONCE = 64
_TREE = "/srv/tree"
_COPY = f"{programs.HOME}/copy_"
_NS_PER_US = 1000  # under `insn` too: there an instruction takes a nanosecond of the guest's time
_LIMIT_SECONDS = 7200

# Names, kinds, permissions, owners, times, links and content, in one order: as one file's digest.
_DIGEST = (
    "set -o pipefail; for tree; do tar --create --sort=name --numeric-owner --format=gnu"
    ' --directory="$tree" . | b2sum || exit 1; done'
)


class Parameters(WorkloadParameters):
    """How much is copied, and how often at once."""

    concurrency: Annotated[int, whole_number(_MOST_AT_ONCE)] = Field(
        1, description="how many copies at once, 1 to 64 (default: 1)"
    )
    files: Annotated[int, whole_number(_MOST_FILES, words={"all": _MOST_FILES})] = Field(
        100,
        description="how many of Linux's source, 1 to 1000000 or all (default: 100; published:"
        " all)",
    )


def tree(parameters: Parameters) -> int:
    """Return how many files it wants under /srv/tree."""
    return parameters.files


def disk(parameters: Parameters) -> int:
    """Return how many GiB the root has to have at least for all copies; 0 if any will do."""
    files = min(parameters.files, _THERE_ARE)
    return programs.disk(files * parameters.concurrency * _FOR_EACH_FILE)


def requests(parameters: Parameters, instrument: Instrument) -> list[Request]:
    """Return the requests to the probe."""
    copies = parameters.concurrency
    copy = f"seq 1 {copies} | xargs -P 0 -i cp -a {_TREE} {_COPY}{{}}"
    paths = [f"{_COPY}{number}" for number in range(1, copies + 1)]
    digest = ["bash", "-c", _DIGEST, "digest", _TREE, *paths]

    def measure(name: str, argv: Sequence[str]) -> Request:
        return programs.as_user(name, argv, instrument, limit_seconds=_LIMIT_SECONDS)

    return [
        DropCaches(),
        measure("copy", ["sh", "-c", copy]),
        programs.as_user("compare", digest, limit_seconds=_LIMIT_SECONDS),
        measure("remove", ["rm", "-rf", *paths]),
    ]


def read_metrics(
    parameters: Parameters, answers: Sequence[Answer], instrument: Instrument
) -> tuple[MetricSamples, ...]:
    """Return the metrics, in the instrument's unit for a whole run.

    `copy` and `remove` are from a program's start until it is reaped, `wall` is their sum. `user`
    and `system` are not known of several processors.

    Raises:
        TrialError: A program failed, or a copy is not equal to its source.
    """
    both = [
        programs.successful_answer(answers, "copy", "copying the tree"),
        programs.successful_answer(answers, "remove", "removing the copies"),
    ]
    _check(answers, parameters.concurrency)
    copied, removed = (programs.ticks(answer) for answer in both)
    metrics = {
        "copy": (copied, both[:1]),
        "remove": (removed, both[1:]),
        "wall": (copied + removed, both),
    }
    # On several processors the kernel's accounts are in a clock that runs as fast as all together.
    if instrument is not PARALLEL:
        for name in ("user", "system"):
            metrics[name] = (sum(getattr(one, name) for one in both) * _NS_PER_US, both)
    return tuple(
        programs.metric(name, instrument.whole, amount, about)
        for name, (amount, about) in metrics.items()
    )


def windows(
    parameters: Parameters,  # noqa: ARG001  (the interface's)
    answers: Sequence[Answer],
    instrument: Instrument,  # noqa: ARG001  (the same)
) -> tuple[Windows | Together, ...]:
    """Return the copy, the removal, and both together."""
    parts = ("copy", "remove")
    return (*programs.windows(answers, parts), Together("wall", parts))


def _check(answers: Sequence[Answer], copies: int) -> None:
    """Make sure that each copy is equal to the tree."""
    compared = programs.successful_answer(answers, "compare", "comparing the copies with the tree")
    source, *digests = compared.stdout.split("\n")
    if digests[-1:] != [""] or len(digests) != copies + 1:
        raise TrialError(f"{len(digests) - 1} of {copies} copies were compared with the tree")
    wrong = [number for number, digest in enumerate(digests[:-1], 1) if digest != source]
    if wrong:
        named = ", ".join(f"copy_{number}" for number in wrong[:8])
        raise TrialError(
            f"what was copied is not equal to its source: {named}",
            hint="the copy's cost means nothing: something kept cp from writing what it read",
        )


KIND = WorkloadKind(
    name="filecopy",
    title=(
        "cp -a of a source tree and rm -rf of the copies, each whole and together (wall), and as"
        " the kernel accounts both to programs (user) and to itself (system); that division is"
        " sampled at each tick of the clock"
    ),
    parameters=Parameters,
    audit_note=(
        "a copy's cost holds the work of daemons on its records for as long as they keep it from"
        " ending; on one processor that is nearly all of it"
    ),
    settings=(
        "user and system are sampled by the kernel at each tick of 4 ms: in a short copy how they"
        " part says little, their sum much"
    ),
    guest="debian",
    packages=("coreutils", "findutils"),
    # Ticks fall elsewhere when a load begins later (docs/determinism.md).
    resolution=0.005,
    requests=requests,
    measured=read_metrics,
    windows=windows,
    tree=tree,
    disk=disk,
)

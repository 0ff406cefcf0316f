"""What several processors would make of a trace: a model, and no measurement.

A trace is of one processor. What has to come after what is known from it: a process goes on where
it stopped, and one that slept goes on when the one that woke it has come to the wake-up. One that
asked for permission goes on when it has the answer, and the answer takes work that can't begin
before the question. The pieces of work are given to processors as they become free, those that the
trace had first at first (list scheduling; R. L. Graham, Bounds on Multiprocessing Timing Anomalies,
1969). A process that an interrupt woke sleeps as long as it did. All is over when the trace's last
piece is: what others do that nobody waits for takes processors, and may go on.

What the model leaves out: caches, spinning on locks, work that only arises with several processors,
and that a queue may be full, or a lock taken, where it was not in the trace.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from hardcost.analysis.traced import Modelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from hardcost.analysis.traced import Piece, Traced

IDLE = frozenset({"hardcost-idle", "swapper/0", "swapper"})
"""Processes that only run where nobody else wants to."""

SLEEPING = "[waiting for timers and devices]"
"""Stands for what nobody who runs is to blame for."""


@dataclass
class Task:
    """Work of a process that nobody else has to wait in the midst of.

    It begins when the task `before` of the same process is done and, so many instructions later, if
    it slept by itself (`slept`); and when those of `after` are done, which wake it, ask it, or
    answer it. `order` is when it began in the trace.
    """

    process: int
    work: int
    order: int
    before: int | None = None
    after: tuple[int, ...] = ()
    slept: int = 0


def modelled(trace: Traced, processors: Iterable[int]) -> tuple[Modelled, ...]:
    """Return a trace on each number of processors."""
    found = tasks(trace)
    names = trace.processes
    limit, path = longest(found)
    by_name: dict[str, int] = defaultdict(int)
    for process, instructions in path.items():
        by_name[SLEEPING if process is None else names[process]] += instructions
    ranked = sorted(by_name.items(), key=lambda item: (-item[1], item[0]))
    executed: dict[int, int] = defaultdict(int)
    for task in found:
        executed[task.process] += task.work
    process, most = max(executed.items(), key=lambda item: item[1], default=(-1, 0))
    ends = [(number, *scheduled(found, number)) for number in processors]
    return tuple(
        Modelled(
            processors=number,
            length=length,
            drained=drained,
            work=sum(executed.values()),
            limit=limit,
            path=tuple((name, part) for name, part in ranked if part),
            busiest=(names[process], most),
        )
        for number, length, drained in ends
    )


def tasks(trace: Traced) -> list[Task]:
    """Return a trace's work, cut where somebody is woken; each comes after those it waits for."""
    return _Cutting(trace).cut()


_Mark = tuple[str, int, int]
"""A moment up to which somebody has to come: its kind, and whom of, or which, it is."""


@dataclass
class _Cutting:
    """Goes through a trace's pieces in their order."""

    trace: Traced
    found: list[Task] = field(default_factory=list)
    _marks: dict[int, list[tuple[int, _Mark]]] = field(default_factory=dict)  # of each process
    _questions: dict[int, list[tuple[int, int]]] = field(default_factory=dict)  # from when: which
    _latest: dict[int, int] = field(default_factory=dict)  # the last task of each process
    _ended: dict[int, int] = field(default_factory=dict)  # when its last piece did
    _reached: dict[_Mark, int] = field(default_factory=dict)  # a mark: by which task
    _answers: dict[int, list[int]] = field(default_factory=dict)  # whom: by which tasks

    def cut(self) -> list[Task]:
        """Return the tasks."""
        self._mark()
        idle_before = False
        for piece in self.trace.pieces:
            is_idle = self.trace.processes[piece.process] in IDLE
            if not is_idle:
                self._piece(piece, came_from_idle=idle_before)
            idle_before = is_idle
        return self.found

    def _mark(self) -> None:
        """Note where processes wake, ask and answer, and from when on an answer is worked on.

        That is after the question, and after the answer before it by the same process.
        """
        marks: dict[int, list[tuple[int, _Mark]]] = defaultdict(list)
        answered: dict[int, int] = {}
        for wake in self.trace.wakes:
            if wake.by is not None:
                marks[wake.by].append((wake.when, ("wakes", wake.process, wake.when)))
        for number, one in enumerate(self.trace.answers):
            marks[one.by].append((one.when, ("answers", one.process, number)))
            marks[one.process].append((one.asked, ("asks", one.by, number)))
            begin = max(one.asked, answered.get(one.by, 0))
            self._questions.setdefault(one.by, []).append((begin, number))
            answered[one.by] = one.when
        self._marks = {process: sorted(mine, reverse=True) for process, mine in marks.items()}
        for mine in self._questions.values():
            mine.sort(reverse=True)

    def _piece(self, piece: Piece, *, came_from_idle: bool) -> None:
        """Cut a piece behind each mark that its process comes to."""
        marks = self._marks.get(piece.process, [])
        begin = piece.begin
        first = True
        while first or begin < piece.end or (marks and marks[-1][0] <= piece.end):
            is_there = marks and marks[-1][0] <= piece.end
            moment, mark = marks.pop() if is_there else (piece.end, None)
            when = max(moment, begin)
            if first or when > begin:
                before = self._latest.get(piece.process)
                task = Task(piece.process, when - begin, begin, before)
                task.after = self._answered(piece.process, begin)
                if first:
                    self._waits(task, piece, came_from_idle=came_from_idle)
                self.found.append(task)
                self._latest[piece.process] = len(self.found) - 1
            if mark is not None:
                self._reach(mark)
            begin, first = when, False
        self._ended[piece.process] = piece.end

    def _reach(self, mark: _Mark) -> None:
        """Note that the latest task ends there."""
        kind, process, _ = mark
        self._reached[mark] = len(self.found) - 1
        if kind == "answers":
            self._answers.setdefault(process, []).append(len(self.found) - 1)

    def _answered(self, process: int, begin: int) -> tuple[int, ...]:
        """Return which tasks ask or answer what a process does from that moment on."""
        found = self._answers.pop(process, [])
        questions = self._questions.get(process, [])
        while questions and questions[-1][0] <= begin:
            asked = self._reached.get(("asks", process, questions.pop()[1]))
            found += [] if asked is None else [asked]
        return tuple(found)

    def _waits(self, task: Task, piece: Piece, *, came_from_idle: bool) -> None:
        """Say what the first task of a piece waits for."""
        if piece.woken is None:
            return
        woke = self._reached.get(("wakes", piece.process, piece.woken))
        if woke is None:
            ready = piece.begin if came_from_idle else piece.woken
            task.slept = max(ready - self._ended.get(piece.process, 0), 0)
        else:
            task.after = (*task.after, woke)


def scheduled(found: Sequence[Task], processors: int) -> tuple[int, int]:
    """Return when the trace's last task is done, and when all are that a process has woken.

    So many may run at a time.
    """
    return _Schedule(found, processors).ends() if found else (0, 0)


class _Schedule:
    """Gives tasks to processors."""

    def __init__(self, found: Sequence[Task], processors: int) -> None:
        self._found = found
        self._free = processors
        self._waiting, self._followers = _followers(found)
        self._begins = [task.slept if task.before is None else 0 for task in found]
        self._ready: list[tuple[int, int]] = []  # in the order of the trace
        self._running: list[tuple[int, int]] = []  # by when they are done
        self._later = [  # by when they may begin
            (self._begins[number], number)
            for number, count in enumerate(self._waiting)
            if not count
        ]
        heapq.heapify(self._later)
        self._left: set[int] = set()  # what has to be done before it ends
        self._length = 0

    def ends(self) -> tuple[int, int]:
        """Return when the last task is done, and when all are that a process has woken."""
        woken = [number for number, task in enumerate(self._found) if task.after]
        self._left = {*woken, len(self._found) - 1}
        now = 0
        while self._left:
            while self._later and self._later[0][0] <= now:
                _, number = heapq.heappop(self._later)
                heapq.heappush(self._ready, (self._found[number].order, number))
            while self._ready and self._free:
                _, number = heapq.heappop(self._ready)
                heapq.heappush(self._running, (now + self._found[number].work, number))
                self._free -= 1
            moments = [queue[0][0] for queue in (self._later, self._running) if queue]
            now = max(now, min(moments)) if self._free else self._running[0][0]
            while self._running and self._running[0][0] <= now:
                self._finish(*heapq.heappop(self._running))
        return self._length, now

    def _finish(self, done: int, number: int) -> None:
        """End a task; those that waited for it alone may begin, at once or once they slept."""
        self._free += 1
        self._left.discard(number)
        if number == len(self._found) - 1:
            self._length = done
        for follower in self._followers[number]:
            task = self._found[follower]
            slept = task.slept if task.before == number else 0
            self._begins[follower] = max(self._begins[follower], done + slept)
            self._waiting[follower] -= 1
            if not self._waiting[follower]:
                heapq.heappush(self._later, (self._begins[follower], follower))


def _followers(found: Sequence[Task]) -> tuple[list[int], list[list[int]]]:
    """Return how many tasks each one waits for, and which wait for it."""
    followers: list[list[int]] = [[] for _ in found]
    waiting = []
    for number, task in enumerate(found):
        needed = {*task.after} if task.before is None else {task.before, *task.after}
        waiting.append(len(needed))
        for one in needed:
            followers[one].append(number)
    return waiting, followers


def longest(found: Sequence[Task]) -> tuple[int, Mapping[int | None, int]]:
    """Return the length of the longest chain to the last task, and whose it is; None: nobody's."""
    ends: list[int] = []
    binding: list[int | None] = []
    for task in found:
        before = 0 if task.before is None else ends[task.before]
        last = max(task.after, key=lambda one: ends[one], default=None)
        after = -1 if last is None else ends[last]
        begin = max(before + task.slept, after)
        binding.append(last if after == begin else task.before)
        ends.append(begin + task.work)
    parts: dict[int | None, int] = defaultdict(int)
    number = len(found) - 1 if found else None
    length = ends[-1] if found else 0
    while number is not None:
        task, previous = found[number], binding[number]
        parts[task.process] += task.work
        begin = ends[number] - task.work
        parts[None] += begin - (0 if previous is None else ends[previous])
        number = previous
    return length, parts

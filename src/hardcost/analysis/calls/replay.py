"""A trace replayed on several processors: a model, and no measurement.

A trace is of one processor. What has to come after what is known from it: a process goes on where
it stopped, and one that slept goes on when the one that woke it has come to the wake-up. One that
asked for permission goes on when it has the answer, and the answer takes work that can't begin
before the question. The pieces of work are given to processors as they become free, those that the
trace had first at first (list scheduling; R. L. Graham, Bounds on Multiprocessing Timing Anomalies,
1969). A process that an interrupt woke sleeps as long as it did. All is over when the trace's last
piece is: work that no process waits for takes processors, and may go on after it.

What the model leaves out: caches, spinning on locks, work that only arises with several processors,
and that a queue may be full, or a lock taken, where it was not in the trace.
"""

from __future__ import annotations

import heapq
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from hardcost.model.finding.trace import Modelled, Piece, Traced

IDLE = frozenset({"hardcost-idle", "swapper/0", "swapper"})
"""Processes that run only when no other process is ready."""

SLEEPING = "[waiting for timers and devices]"
"""The time that no running process is to blame for."""


@dataclass(frozen=True)
class ReplayTask:
    """Work of a process (instructions) that no other process waits for before its end.

    It begins when the task `before` of the same process is done and, so many instructions later, if
    it slept by itself (`slept`); and when those of `after` are done, which wake it, ask it, or
    answer it. Tasks are numbered as the trace had them.
    """

    process: int
    work: int
    before: int | None = None
    after: tuple[int, ...] = ()
    slept: int = 0


def model_trace(trace: Traced, processors: Iterable[int]) -> tuple[Modelled, ...]:
    """Return a trace on each number of processors."""
    found = tasks(trace)
    limit, path = longest_chain(found)
    by_name: Counter[str] = Counter()
    for process, instructions in path.items():
        by_name[SLEEPING if process is None else trace.processes[process]] += instructions
    executed: Counter[int] = Counter()
    for task in found:
        executed[task.process] += task.work
    process, most = max(executed.items(), key=lambda item: item[1], default=(-1, 0))
    ranked = sorted(by_name.items(), key=lambda item: (-item[1], item[0]))
    return tuple(
        Modelled(
            number,
            *schedule_tasks(found, number),
            work=executed.total(),
            limit=limit,
            path=tuple((name, part) for name, part in ranked if part),
            busiest=(trace.processes[process], most),
        )
        for number in processors
    )


class _Mark(NamedTuple):
    """A moment of a process that others wait for: it wakes one, or asks or answers (`which`)."""

    when: int
    does: Literal["wakes", "asks", "answers"]
    other: int
    which: int


class _Cutting:
    """A trace's work on the way to tasks, piece by piece."""

    def __init__(self, trace: Traced) -> None:
        self.found: list[ReplayTask] = []
        self._latest: dict[int, int] = {}  # the last task of each process
        self._ended: dict[int, int] = {}  # when its last piece did
        self._reached: dict[tuple[str, int, int], int] = {}  # by which task a mark is
        self._answered: defaultdict[int, list[int]] = defaultdict(list)  # whom, by which tasks
        marks: defaultdict[int, list[_Mark]] = defaultdict(list)
        questions: defaultdict[int, list[tuple[int, int]]] = defaultdict(list)
        for wake in trace.wakes:
            if wake.by is not None:
                marks[wake.by].append(_Mark(wake.when, "wakes", wake.process, wake.when))
        last: dict[int, int] = {}
        for which, one in enumerate(trace.answers):
            marks[one.by].append(_Mark(one.when, "answers", one.process, which))
            marks[one.process].append(_Mark(one.asked, "asks", one.by, which))
            # An answer is worked on after the question, and after the same process' last answer.
            questions[one.by].append((max(one.asked, last.get(one.by, 0)), which))
            last[one.by] = one.when
        self._marks = {process: deque(sorted(mine)) for process, mine in marks.items()}
        self._questions = {process: deque(sorted(mine)) for process, mine in questions.items()}

    def cut(self, piece: Piece, *, came_from_idle: bool) -> None:
        """Add a piece's tasks: it is cut behind each mark that its process comes to."""
        begin, process, number = piece.begin, piece.process, -1
        for when, mark in self._ends(piece):
            end = max(when, begin)
            if number < 0 or end > begin:
                after, slept = self._awaited_tasks(process, begin), 0
                if number < 0 and piece.woken is not None:
                    woke = self._reached.get(("wakes", process, piece.woken))
                    after += [] if woke is None else [woke]
                    ready = piece.begin if came_from_idle else piece.woken
                    slept = max(ready - self._ended.get(process, 0), 0) if woke is None else 0
                number = len(self.found)
                before = self._latest.get(process)
                self.found.append(ReplayTask(process, end - begin, before, tuple(after), slept))
                self._latest[process] = number
            if mark is not None:
                self._reached[mark.does, mark.other, mark.which] = number
                if mark.does == "answers":
                    self._answered[mark.other].append(number)
            begin = end
        self._ended[process] = piece.end

    def _ends(self, piece: Piece) -> list[tuple[int, _Mark | None]]:
        """Return the marks up to a piece's end, and the end."""
        own = self._marks.get(piece.process, deque())
        found: list[tuple[int, _Mark | None]] = []
        while own and own[0].when <= piece.end:
            found.append((own[0].when, own.popleft()))
        return [*found, (piece.end, None)]

    def _awaited_tasks(self, process: int, begin: int) -> list[int]:
        """Return the tasks whose questions or answers a process works on from a moment on."""
        found = self._answered.pop(process, [])
        questions = self._questions.get(process, deque())
        while questions and questions[0][0] <= begin:
            asked = self._reached.get(("asks", process, questions.popleft()[1]))
            found += [] if asked is None else [asked]
        return found


def tasks(trace: Traced) -> list[ReplayTask]:
    """Return a trace's work, cut where a process is woken; each comes after those it waits for."""
    cutting, idle_before = _Cutting(trace), False
    for piece in trace.pieces:
        is_idle = trace.processes[piece.process] in IDLE
        if not is_idle:
            cutting.cut(piece, came_from_idle=idle_before)
        idle_before = is_idle
    return cutting.found


def schedule_tasks(found: Sequence[ReplayTask], processors: int) -> tuple[int, int]:
    """Return when the trace's last task is done, and when all are that a process has woken."""
    needs = [{*one.after, *([] if one.before is None else [one.before])} for one in found]
    followers: list[list[int]] = [[] for _ in found]
    for number, needed in enumerate(needs):
        for one in needed:
            followers[one].append(number)
    begins = [task.slept if task.before is None else 0 for task in found]
    events = [(begins[number], False, number) for number, needed in enumerate(needs) if not needed]
    heapq.heapify(events)  # when a task may begin, or (True) is done
    ready: list[int] = []
    left = {*range(len(found))[-1:], *(number for number, task in enumerate(found) if task.after)}
    free, now, length = processors, 0, 0
    while left:
        now = events[0][0]
        while events and events[0][0] == now:
            _, is_done, number = heapq.heappop(events)
            if not is_done:
                heapq.heappush(ready, number)
                continue
            free += 1
            left.discard(number)
            length = now if number == len(found) - 1 else length
            for follower in followers[number]:
                slept = found[follower].slept if found[follower].before == number else 0
                begins[follower] = max(begins[follower], now + slept)
                needs[follower].remove(number)
                if not needs[follower]:
                    heapq.heappush(events, (begins[follower], False, follower))
        while ready and free:
            number = heapq.heappop(ready)
            heapq.heappush(events, (now + found[number].work, True, number))
            free -= 1
    return length, now


def longest_chain(found: Sequence[ReplayTask]) -> tuple[int, Mapping[int | None, int]]:
    """Return the longest chain's length up to the last task, and its process; None: it has none."""
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

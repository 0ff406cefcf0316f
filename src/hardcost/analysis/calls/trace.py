"""A trace by the pieces that processes ran: how long, woken by whom, and where they waited.

Everything is counted in instructions, which are the guest's clock. The pieces follow each other
without a gap, so that their instructions add up to the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from hardcost.instruments.traces import ASKS, Trace, deed, in_interrupt
from hardcost.model.call_tree import names_to
from hardcost.model.finding.trace import AccessAnswer, Deed, Piece, Traced, Wake
from hardcost.model.role import Role
from hardcost.model.workload import Workload

OWN_CODE = "its own code"
"""The action of a process that makes no system call."""

UNKNOWN = "[unknown]"
_CALLS = ("__x64_sys_", "__do_sys_", "__ia32_sys_", "__ia32_compat_sys_")
_BOTTOM = (
    "ret_from_fork",
    "kthread",
    "entry_",
    "asm_",
    "do_syscall_64",
    "syscall_",
    "x64_sys_call",
)
_WAITING = ("schedule", "__schedule", "preempt_schedule", "__cond_resched", "asm_", "irqentry_")
_SCHEDULER = frozenset({"schedule", "__schedule"})
_PREEMPTED = (
    *("preempt_schedule", "__cond_resched", "irqentry_", "raw_irqentry_", "asm_"),
    *("exit_to_user_mode", "syscall_exit_to_user_mode", "sched_yield", "do_sched_yield"),
)


def trace_by_pieces(trace: Trace, workload: Workload, configuration: Role) -> Traced:
    """Return a trace by pieces, beginning at 0."""
    reader = _Reader(trace)
    for row in trace.notes:
        reader.take(*row)
    reader.close(trace.end, None, slept=False)
    others = [piece for piece in reader.pieces if piece.process != trace.caller - 1]
    done = [deed.when for piece in others for deed in piece.deeds]
    return Traced(
        workload=workload,
        configuration=configuration,
        metric=trace.metric,
        processes=(*_distinct(trace.processes), UNKNOWN),
        pieces=tuple(reader.pieces),
        wakes=tuple(reader.wakes),
        length=trace.end - trace.begin,
        ticks=trace.ticks,
        before=trace.begin,
        after=trace.ticks - trace.idle - trace.end,
        idle=trace.idle,
        caller=trace.caller - 1 if trace.caller else None,
        returned=trace.returned - trace.begin if trace.caller else None,
        arrived=max(done, default=None),
        answers=tuple(reader.answers),
    )


def _distinct(names: Sequence[str]) -> Iterator[str]:
    """Yield names of processes and threads, those that have another's name with a number."""
    seen: dict[str, int] = {}
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        yield name if seen[name] == 1 else f"{name} ({seen[name]})"


@dataclass
class _State:
    """The state of a process: its call, the call's actions, and the waker since it stopped.

    At the moment `asked` it asked what has not been answered yet.
    """

    call: str | None = None
    deed: str | None = None
    asked: int | None = None
    slept: bool = True
    woken: tuple[int | None, int] | None = None


@dataclass
class _Reader:
    """Goes through the events of a trace."""

    trace: Trace
    pieces: list[Piece] = field(default_factory=list)
    wakes: list[Wake] = field(default_factory=list)
    answers: list[AccessAnswer] = field(default_factory=list)
    _states: dict[int, _State] = field(default_factory=dict)
    _runs: int = -1
    _since: int = 0
    _woken: tuple[int | None, int] | None = None
    _doing: list[str] = field(default_factory=list)
    _deeds: list[Deed] = field(default_factory=list)

    def take(self, kind: str, when: int, process: int, place: int) -> None:
        """Take a row of a trace's notes."""
        frames = self.trace.frames
        number = process - 1 if process else len(self.trace.processes)
        state = self._state(self._runs)
        if kind == "runs":
            if self._runs >= 0:
                self.close(when, names_to(place, frames)[1:], slept=True)
            self._begin(number, when)
        elif kind == "wakes":
            by = None if in_interrupt(names_to(place, frames)[1:]) else self._runs
            self.wakes.append(Wake(when - self.trace.begin, by, number))
            woken = self._state(number)
            # Who runs, or only had to give way, was not asleep.
            if number != self._runs and woken.slept and woken.woken is None:
                woken.woken = (by, when - self.trace.begin)
        elif kind == "answers" and process:
            answered = self._state(number)
            if answered.asked is not None:
                answer = AccessAnswer(when - self.trace.begin, self._runs, number, answered.asked)
                self.answers.append(answer)
                answered.asked = None
        elif kind == "begins":
            self._begins(when, names_to(place, frames)[1:])
        elif kind == "leaves":
            if state.deed:
                self._deeds.append(Deed(when - self.trace.begin, state.deed))
            state.call = state.deed = None

    def _begins(self, when: int, names: Sequence[str]) -> None:
        """Take that the function begins which is called last."""
        state = self._state(self._runs)
        function = names[-1] if names else ""
        found = deed(names)
        if found is not None:
            state.deed = found
        elif function == ASKS:
            state.asked = when - self.trace.begin
        elif function.startswith(_CALLS):
            state.call = _call(function)
            self._doing.append(state.call)

    def _begin(self, number: int, when: int) -> None:
        self._runs, self._since, self._deeds = number, when, []
        state = self._state(number)
        self._woken, state.woken, state.slept = state.woken, None, False
        call = state.call
        self._doing = [call] if call else []

    def close(self, when: int, stack: Sequence[str] | None, *, slept: bool) -> None:
        """End the piece that runs; `stack` is where it stopped."""
        state, woken = self._state(self._runs), self._woken
        state.slept = slept and not _is_preempted(stack or ())
        begin = self.trace.begin
        if not self._doing and stack:
            self._doing = [_thread_function(stack)]
        if when > self._since:
            self.pieces.append(
                Piece(
                    process=self._runs,
                    begin=self._since - begin,
                    end=when - begin,
                    doing=tuple(dict.fromkeys(self._doing)) or (OWN_CODE,),
                    woken_by=woken[0] if woken else None,
                    woken=woken[1] if woken else None,
                    stopped=_where(stack or ()) if state.slept else None,
                    deeds=tuple(self._deeds),
                )
            )

    def _state(self, number: int) -> _State:
        return self._states.setdefault(number, _State())


def _call(function: str) -> str:
    for begin in _CALLS:
        if function.startswith(begin):
            return function.removeprefix(begin)
    return function


def _thread_function(stack: Iterable[str]) -> str:
    """Return the function of a kernel thread, or that a process is in its own code."""
    for name in stack:
        if name.startswith("["):
            return OWN_CODE
        if not name.startswith((*_BOTTOM, *_WAITING)):
            return name
    return OWN_CODE


def _is_preempted(stack: Sequence[str]) -> bool:
    """Say whether a process that stopped there could have gone on."""
    why = next((name for name in reversed(stack) if name not in _SCHEDULER), "")
    return _call(why).startswith(_PREEMPTED)


def _where(stack: Sequence[str]) -> str:
    """Return the function in which a process sleeps."""
    for name in reversed(stack):
        if not name.startswith(_WAITING):
            return _call(name)
    return UNKNOWN

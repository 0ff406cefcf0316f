"""The rules during optimisation: where each came from, and which order must be kept.

Two rules must keep their order if one call might match both with different results: another action
or another key. They must also keep it if one of them is in an inode's bucket, since the walk of the
files ends at the first file whose rule outranks the exit list's decision. All other orders are
free: the order of equal rules has no effect. A watch of unknown kind may be in either place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush

from auditrules.model.kernel_rule import KernelRule, bits
from auditrules.optimize.meeting import orders_to_keep


@dataclass(frozen=True)
class Candidate:
    """A rule, the indices of the input rules that it represents, and the changes made.

    `saves` is what they save the mean call that it does not decide about (instructions).
    """

    rule: KernelRule
    origins: tuple[int, ...]
    done: tuple[str, ...] = ()
    saves: float = 0.0

    def with_rule(self, rule: KernelRule, what: str) -> Candidate:
        """Return the line with another rule, and the change that made it."""
        done = self.done if what in self.done else (*self.done, what)
        return Candidate(rule, self.origins, done)


@dataclass
class Candidates:
    """Rules by number, lowest first, and which must stand before which.

    A line's number is that of the first input rule that it represents. `before` maps each line to
    the lines that must precede it, as the bits `1 << number`. `b32`: there are 32-bit calls.
    `front` are lines that come as early as possible.
    """

    b32: bool
    lines: dict[int, Candidate] = field(default_factory=dict)
    before: dict[int, int] = field(default_factory=dict)
    front: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, rules: Sequence[KernelRule], *, b32: bool) -> Candidates:
        """Return the rules of the list `exit`, which are in the order of their priority."""
        numbered = dict(enumerate(rules))
        lines = {number: Candidate(rule, (number,)) for number, rule in numbered.items()}
        return cls(b32, lines, orders_to_keep(numbered, b32=b32))

    def copy(self) -> Candidates:
        """Return lines that can be changed by themselves."""
        return Candidates(self.b32, dict(self.lines), dict(self.before), set(self.front))

    def can_become_one(self, first: int, second: int) -> bool:
        """Say whether no rule has to be between the two, in either direction."""
        return not self._reaches(first, second) and not self._reaches(second, first)

    def must_precede(self, one: int, other: int) -> bool:
        """Say whether the order of two lines matters and is this one."""
        return bool(self.before[other] >> one & 1)

    def stands_before(self, one: int, other: int) -> bool:
        """Say whether a line must precede another, directly or through others."""
        return self.must_precede(one, other) or self._reaches(one, other)

    def _reaches(self, start: int, goal: int) -> bool:
        """Say whether a chain of at least two orders leads from one line to another."""
        seen = ahead = self.before[goal] & ~(1 << start)
        while ahead:
            number = ahead.bit_length() - 1
            if self.before[number] >> start & 1:
                return True
            ahead = (ahead | self.before[number] & ~seen) & ~(1 << number)
            seen |= self.before[number]
        return False

    def join(self, first: int, second: int, rule: KernelRule, what: str) -> None:
        """Replace two lines that `can_become_one` by one rule, under the lower number."""
        a, b = self.lines[first], self.lines.pop(second)
        done = tuple(dict.fromkeys((*a.done, *b.done, what)))
        self.lines[first] = Candidate(rule, tuple(sorted({*a.origins, *b.origins})), done)
        self.before[first] |= self.before.pop(second)
        for number, before in self.before.items():
            if before >> second & 1:
                self.before[number] = before & ~(1 << second) | 1 << first
        self.before[first] &= ~(1 << first)

    def drop(self, number: int) -> None:
        """Remove a line, and the orders that it imposed on others."""
        del self.lines[number], self.before[number]
        for other, before in self.before.items():
            self.before[other] = before & ~(1 << number)

    def replace(self, number: int, rule: KernelRule, what: str) -> None:
        """Replace a line's rule by one that matches no further call."""
        self.lines[number] = self.lines[number].with_rule(rule, what)

    def in_order(self, rank: Callable[[Candidate], int] = lambda _line: 0) -> tuple[Candidate, ...]:
        """Return the lines in an order that keeps all constraints, else by rank, front, number."""
        return tuple(self.lines[number] for number in self.numbers_in_order(rank))

    def numbers_in_order(
        self, rank: Callable[[Candidate], int] = lambda _line: 0
    ) -> tuple[int, ...]:
        """Return the numbers of the lines as `in_order` does."""

        def place(number: int) -> tuple[int, bool, int]:
            return rank(self.lines[number]), number not in self.front, number

        left = sum(1 << number for number in self.lines)
        blocked: dict[int, list[int]] = {}
        free: list[tuple[tuple[int, bool, int], int]] = []
        ordered: list[int] = []
        for number in sorted(self.lines, key=place):
            free.append((place(number), number))  # those that were free before are all in order
            while free:
                _, freed = heappop(free)
                waits_for = self.before[freed] & left
                if waits_for:
                    blocked.setdefault(waits_for.bit_length() - 1, []).append(freed)
                    continue
                left &= ~(1 << freed)
                ordered.append(freed)
                for other in blocked.pop(freed, ()):
                    heappush(free, (place(other), other))
        return tuple(ordered)

    def with_what_stands_before(self, lines: set[Candidate]) -> set[Candidate]:
        """Return lines and all that must precede one of them."""
        found: set[int] = set()
        ahead = {number for number, line in self.lines.items() if line in lines}
        while ahead:
            found |= ahead
            before = {earlier for number in ahead for earlier in bits(self.before[number])}
            ahead = before - found
        return {self.lines[number] for number in found}

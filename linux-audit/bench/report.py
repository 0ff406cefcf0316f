"""The results of `costs.py` as Markdown, and which lines of the acceptance list hold."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from auditrules.cost import events
from measurements import Changes, Memory

SHOWN = ("null", "read", "write", "stat", "fstat", "open")
"""The calls in the acceptance list."""

AT_MOST = 1.01
LEAST_GAIN = 0.5
DEARER = 5.0  # instructions a call more than on stock
VARYING = (
    "exec", "fork", "connect", "unix", "pipe", "context-switch", "creat", "rename", "link",
)  # fmt: skip
"""Operations that vary by a few instructions with the memory layout.

They involve several processes, or look up names and pages whose locations affect the path.
"""

_ERRORS = 3  # standard errors on either side of a mean: there are about forty means
LOADING = 2.0
DELETING = 1.0
FEW = ("audit off", "no rules", "1 rule", "catch-all")
"""The sets of at most one rule that are not kinds of single rules."""

Levels = dict[str, dict[str, float]]
"""Instructions by call, by set of rules."""


T = TypeVar("T")


@dataclass(frozen=True)
class Pair(Generic[T]):
    """The same of both kernels."""

    stock: T
    flat: T


@dataclass(frozen=True)
class Line:
    """A line of the acceptance list, and whether it holds; `detail` is the most critical figure."""

    what: str
    holds: bool
    detail: str

    def __str__(self) -> str:
        """Return it as a list item."""
        return f"- {'holds' if self.holds else 'DOES NOT HOLD'}: {self.what} ({self.detail})"


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a Markdown table."""
    lines = [head, ["---", *("---:" for _ in head[1:])], *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def both(stock: float, flat: float) -> str:
    """Return two figures, stock's first."""
    return f"{stock:,.0f} → {flat:,.0f}"


# Calls ------------------------------------------------------------------------------------------


def calls_text(levels: Pair[Levels]) -> Iterator[str]:
    """Yield the tables of calls under rule sets."""
    many = [name for name in levels.stock if not name.startswith("1: ")]
    rows = [
        [name, *(both(levels.stock[name][call], levels.flat[name][call]) for call in SHOWN)]
        for name in many
    ]
    yield "### Calls\n\nInstructions of one operation, stock → flat; `open` closes too.\n\n"
    yield table(["rules", *SHOWN], rows)
    few = [name for name in levels.stock if name.startswith("1: ") or name in FEW]
    rows = []
    for name in few:
        stock, flat = levels.stock[name], levels.flat[name]
        exact = [call for call in stock if call not in VARYING]
        worst = max(exact, key=lambda call: (flat[call] - stock[call]) / calls_in(call))
        more = (flat[worst] - stock[worst]) / calls_in(worst)
        shown = [f"{(flat[call] - stock[call]) / calls_in(call):+,.0f}" for call in SHOWN]
        rows.append([name, *shown, f"{more:+,.0f} ({worst})"])
    count = len(next(iter(levels.stock.values()))) - len(VARYING)
    yield "\nNo rule or one: instructions by which a call is dearer on flat than on stock; last,"
    yield f" the operation that fares worst of the {count} that are exact.\n\n"
    yield table(["rules", *SHOWN, "worst"], rows)


def calls_lines(levels: Pair[Levels]) -> Iterator[Line]:
    """Yield the acceptance lines about calls."""
    flat, stock = levels.flat, levels.stock
    yield _near(flat, "160 rules", "1 rule", SHOWN)
    yield _near(flat, "160 rules + catch-all", "catch-all", SHOWN)
    for kind in ("watch", "no perm", "arch, perm"):
        name = f"50 dir, {kind}"
        yield _near(flat, name, "1 rule", ("null",))
        share = flat[name]["open"] / stock[name]["open"]
        figures = f"{both(stock[name]['open'], flat[name]['open'])}, {share:.0%}"
        yield Line(f"{name}: open is cheaper than half of stock", share < LEAST_GAIN, figures)
    few = [name for name in stock if name in FEW or name.startswith("1: ")]
    exact = [call for call in next(iter(stock.values())) if call not in VARYING]
    dearer = sorted(
        (
            ((flat[name][call] - stock[name][call]) / calls_in(call), name, call)
            for name in few
            for call in exact
        ),
        reverse=True,
    )
    over = [one for one in dearer if one[0] > DEARER]
    shown = "; ".join(
        f"{call} {more:+,.1f} under {name}" for more, name, call in over or dearer[:1]
    )
    what = (
        f"no rule or one, of {len(few)} kinds: none of the calls of {len(exact)} operations is"
        f" dearer by more than {DEARER:.0f}"
    )
    yield Line(what, not over, shown)


def calls_in(operation: str) -> int:
    """Return the number of system calls in an operation; 1 for the one without any."""
    return max(1, len(events.operations()[operation]))


Seeded = dict[str, dict[str, list[float]]]
"""Instructions by seed, by operation, by set of rules."""


def seeded_text(found: Pair[Seeded]) -> Iterator[str]:
    """Yield the table of operations that vary with the memory layout."""
    count = len(next(iter(next(iter(found.stock.values())).values())))
    yield (
        f"\nOperations that vary with the layout of memory: by how many instructions flat is dearer"
        f" than stock, mean over {count} layouts, ± {_ERRORS} standard errors; in"
        " parentheses how many calls an operation makes.\n\n"
    )
    rows = [
        [name, *(f"{mean:+,.0f} ± {error:,.0f}" for mean, error in _means(found, name).values())]
        for name in found.stock
    ]
    yield table(["rules", *(f"{call} ({calls_in(call)})" for call in VARYING)], rows)


def _means(found: Pair[Seeded], name: str) -> dict[str, tuple[float, float]]:
    """Return the mean difference of each operation, and its uncertainty."""
    means = {}
    for call, stock in found.stock[name].items():
        more = [now - was for was, now in zip(stock, found.flat[name][call], strict=True)]
        error = statistics.stdev(more) / math.sqrt(len(more))
        means[call] = statistics.mean(more), _ERRORS * error
    return means


def seeded_lines(found: Pair[Seeded]) -> Iterator[Line]:
    """Yield the acceptance lines about operations that vary."""
    dearer = sorted(
        (
            ((mean - error) / calls_in(call), mean, error, name, call)
            for name in found.stock
            for call, (mean, error) in _means(found, name).items()
        ),
        reverse=True,
    )
    over = [one for one in dearer if one[0] > DEARER]
    shown = "; ".join(
        f"{call} {mean:+,.1f} ± {error:,.1f} under {name}"
        for _, mean, error, name, call in over or dearer[:1]
    )
    what = f"no rule or one: none of {len(VARYING)} operations that vary is shown to be dearer"
    yield Line(f"{what} by more than {DEARER:.0f} a call", not over, shown)


def _near(levels: Levels, many: str, few: str, names: Sequence[str]) -> Line:
    """Return the line that calls cost under many rules what they cost under few."""
    ratios = {name: levels[many][name] / levels[few][name] for name in names}
    worst = max(ratios, key=lambda name: ratios[name])
    return Line(
        f"{many}: {', '.join(names)} within 1 % of {few}",
        ratios[worst] <= AT_MOST,
        f"{worst} {levels[few][worst]:,.0f} → {levels[many][worst]:,.0f}",
    )


def profiles_text(levels: Pair[Levels], sizes: Mapping[str, int]) -> Iterator[str]:
    """Yield a table for each published rule set."""
    bare = levels.stock["no rules"]
    for name, size in sizes.items():
        stock, flat = levels.stock[name], levels.flat[name]
        rows = [
            [
                call,
                f"{bare[call]:,.0f}",
                f"{was:,.0f}",
                f"{flat[call]:,.0f}",
                _saved(was, flat[call]),
            ]
            for call, was in stock.items()
        ]
        yield f"\n### {name}: {size} rules\n\nInstructions of one operation.\n\n"
        yield table(["call", "no rules, stock", "stock", "flat", "flat is"], rows)


def _saved(stock: float, flat: float) -> str:
    return f"{flat / stock - 1:+.0%}"


# Changes of rules -------------------------------------------------------------------------------

Loaded = dict[str, "Changes"]

_PART = 160
"""The number of rules loaded before the part of adding that is shown separately."""

_TITLES = {
    "add": "added",
    "delete-first": "deleted, the first first",
    "delete-last": "deleted, the last first",
}


def loading_text(found: Pair[Loaded]) -> Iterator[str]:
    """Yield the tables of the cost of changing rules."""
    one = next(iter(found.stock.values()))
    yield (
        "\n### Loading and deleting 480 rules\n\n"
        "Thousands of instructions, stock → flat: the kernel's work for each request, as the"
        " processor time of whoever asks, so without the time that it waits for a grace period.\n\n"
    )
    yield table(
        ["rules", "added", f"of these from {_PART} on", *list(_TITLES.values())[1:]],
        [_requested(kind, stock, found.flat[kind]) for kind, stock in found.stock.items()],
    )
    yield (
        "\nWhat the kernel does later on behalf of all 480, ± 4 thousand (what it does"
        " while the caller waits is in neither):\n\n"
    )
    yield table(
        ["rules", *_TITLES.values()],
        [
            [kind, *_beside(stock.deferred, found.flat[kind].deferred, _thousands, _TITLES)]
            for kind, stock in found.stock.items()
        ],
    )
    yield (
        "\nauditctl as a whole, its own work included. With audit on its own calls pay for the"
        " rules that are there.\n\n"
    )
    yield table(
        ["rules", *one.auditctl],
        [
            [kind, *_beside(stock.auditctl, found.flat[kind].auditctl, _thousands)]
            for kind, stock in found.stock.items()
        ],
    )
    yield (
        "\nMilliseconds of the guest's clock from start to end, in which waiting counts: these are"
        " no instructions.\n\n"
    )
    yield table(
        ["rules", *one.waited],
        [
            [kind, *_beside(stock.waited, found.flat[kind].waited, _milliseconds)]
            for kind, stock in found.stock.items()
        ],
    )


def _requested(kind: str, stock: Changes, flat: Changes) -> list[str]:
    whole = [_thousands(sum(stock.requests[what]), sum(flat.requests[what])) for what in _TITLES]
    parts = (sum(one.requests["add"][_PART:]) for one in (stock, flat))
    return [kind, whole[0], _thousands(*parts), *whole[1:]]


def _beside(
    stock: Mapping[str, float],
    flat: Mapping[str, float],
    shown: Callable[[float, float], str],
    which: Iterable[str] | None = None,
) -> list[str]:
    """Return each figure, stock beside flat: those of `which`, or all of stock's."""
    return [shown(stock[what], flat[what]) for what in which or stock]


def _thousands(stock: float, flat: float) -> str:
    return both(stock / 1e3, flat / 1e3)


def _milliseconds(stock: float, flat: float) -> str:
    return f"{stock / 1e6:,.1f} → {flat / 1e6:,.1f}"


def loading_lines(found: Pair[Loaded]) -> Iterator[Line]:
    """Yield the acceptance lines about loading and deleting."""
    for kind, stock in found.stock.items():
        flat = found.flat[kind]
        whole = {"loading, by request": "add"}
        whole |= {f"deleting, the {end} first": f"delete-{end}" for end in ("first", "last")}
        pairs: dict[str, tuple[float, float]] = {
            title: (_whole(stock, what), _whole(flat, what)) for title, what in whole.items()
        }
        pairs |= {what: (was, flat.auditctl[what]) for what, was in stock.auditctl.items()}
        for what, (was, now) in pairs.items():
            most = LOADING if "loading" in what or "-R" in what else DELETING
            line = f"480 rules, {kind}: {what} takes at most {most:.0f} times stock's instructions"
            yield Line(line, now <= most * was, f"{both(was, now)}, {now / was:.3f} of stock")


def _whole(changes: Changes, what: str) -> float:
    """Return the instructions of all requests, and of the later work for them."""
    return float(sum(changes.requests[what])) + changes.deferred[what]


# Memory -----------------------------------------------------------------------------------------


def memory_text(
    found: Pair[dict[str, Memory]], sizes: Mapping[str, int], sections: Pair[dict[str, int]]
) -> Iterator[str]:
    """Yield the table of flat's memory use beyond stock."""
    yield "\n### Memory\n\n"
    yield (
        "Bytes that flat's kernel holds beyond stock's under the same rules: used objects of each"
        " slab cache times their size, and allocations that are too large for a slab.\n\n"
    )
    rows = []
    for name, stock in found.stock.items():
        flat = found.flat[name]
        more = {
            cache: flat.slabs.get(cache, 0) - stock.slabs.get(cache, 0)
            for cache in {**stock.slabs, **flat.slabs}
        }
        caches = ", ".join(f"{cache} {grown:+,}" for cache, grown in more.items() if grown)
        large = flat.large - stock.large + flat.mapped - stock.mapped
        total = sum(more.values()) + large
        size = sizes[name]
        per_rule = f"{total / size:,.0f}" if size else ""
        rows.append([name, str(size), f"{total:,}", per_rule, f"{large:,}", caches or "none"])
    head = ["rules", "how many", "bytes", "a rule", "of these large", "by cache"]
    yield table(head, rows)
    parts = ", ".join(
        f"{part} {sections.flat[part] - sections.stock[part]:+,}" for part in sections.stock
    )
    yield f"\nThe kernel's image, in bytes (flat less stock): {parts}.\n"

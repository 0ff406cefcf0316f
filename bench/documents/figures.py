"""The figures of the pages that people read.

Run as `python -m bench.documents.figures [--check] [--slow] [PAGE …]`.

In README.md, docs/ and linux-audit/, every block of output and every table of figures stands below
a comment that says what produces it, and so does a figure in a sentence if it has one. This script
runs all of that with a fresh store and updates the figures. With `--check` it compares, prints how
pages and output differ, and exits with 1 if they do. Kernels and guests come from the user's cache.
Anything slow (kernel builds, Debian guests) is skipped without `--slow`.

    <!-- figures: bill audit-samples; name: samples -->      the block below is what that prints
    <!-- figures: run x.toml; rows: a, b; metrics: null; show: diff -->      a table, row by row
    <!-- figures: bill x.rules; first: 20 -->                the first lines of what that prints
    <!-- figures: cell profile open of samples -->           one cell of the JSON of `samples`
    <!-- figures: file x.toml -->                            the block below is that file
    <!-- figures: sh grep … -->                              run by a shell, in a copy of docs/
    354<!--= samples null fixed -->                    a figure in a sentence

Words are those of `hardcost`; `python` starts a script of the project, {package:NAME} is the folder
of a Debian package. `; slow` marks slow commands. A block may leave lines out: it is a part of the
output, in order, and `…` shows where something is missing. To update it, each of its lines is
replaced by the line of the output that differs from it only in figures, as far as possible. If a
command fails, or prints no such line, the page keeps its text, and the status is 1.
"""

from __future__ import annotations

import argparse
import difflib
import itertools
import json
import math
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from hardcost.supply.packages.debian import package_root

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    str(page.relative_to(ROOT))
    for page in (
        ROOT / "README.md",
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "linux-audit").glob("*.md")),
    )
    if "<!-- figures: " in page.read_text()
]

_MARK = re.compile(r"<!-- figures: (?P<said>.*?) -->\s*$")
_INLINE = re.compile(
    r"(?P<figure>[-+\u2212\xd7x]?\d[\d,.]*%?)<!--= (?P<name>\S+) (?P<what>.*?) -->"
)
_FIGURE = re.compile(
    r"[(]?(?:[+]/-|[-+\u2212\xd7x\xb1~])?\d[\d,.]*(?:e[+]\d+)?[%:]?[)]?(?:\.\.[\d,.]+[)])?"
)
_STAMP = re.compile(r"-\d{8}-\d{6}-[0-9a-f]{4}")
_ONE_STAMP = "-20260101-120000-ab12"
_PACKAGE = re.compile(r"\{package:([a-z0-9.+-]+)\}")
_GAP = "…"
_FAILED = 2  # the lowest exit status that is not an answer
_ALIKE = 0.8  # the least likeness of two lines that may correspond
# The bonus if a line follows the one that it followed: more than lies between two likenesses, since
# rows may trade places, and one may have the figures that another had. Exact in binary.
_FOLLOWING = 1.125


class FiguresError(Exception):
    """A mark that can't be read, or a command that failed."""


# Pages --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mark:
    """The contents of a mark: what produces the block below, and how it is shown."""

    page: str
    line: int
    words: tuple[str, ...]
    options: Mapping[str, str]

    @property
    def where(self) -> str:
        """Return `page:line`."""
        return f"{self.page}:{self.line}"

    @property
    def slow(self) -> bool:
        """Say whether it marks a slow command."""
        return "slow" in self.options

    def listed(self, option: str) -> list[str]:
        """Return the values of an option, which are separated by commas."""
        return [one.strip() for one in self.options.get(option, "").split(",") if one.strip()]


@dataclass
class Block:
    """A mark with the lines that it is about: `first` and `last` of the page, from 0, or none."""

    mark: Mark
    first: int
    last: int

    def lines(self, page: Sequence[str]) -> list[str]:
        """Return the lines as they are in the page."""
        return list(page[self.first : self.last])


def mark_of(text: str, page: str, line: int) -> Mark | None:
    """Return the mark in a line of a page; None if there is none."""
    found = _MARK.search(text)
    if found is None:
        return None
    if found["said"].startswith("sh "):
        return Mark(page, line, ("sh", found["said"].removeprefix("sh ")), {})
    words, *rest = found["said"].split("; ")
    options = dict(part.partition(": ")[::2] for part in rest)
    return Mark(page, line, tuple(shlex.split(words)), options)


def blocks(page: str, lines: Sequence[str]) -> Iterator[Block]:
    """Yield each mark of a page with the block below it: within a fence, or a table."""
    for number, text in enumerate(lines):
        mark = mark_of(text, page, number + 1)
        if mark is None:
            continue
        first = number + 1
        while first < len(lines) and not lines[first].strip():
            first += 1
        if first < len(lines) and lines[first].startswith("```"):
            ends = (at for at in range(first + 1, len(lines)) if lines[at].startswith("```"))
            yield Block(mark, first + 1, next(ends))
        elif first < len(lines) and lines[first].startswith("|"):
            last = first
            while last < len(lines) and lines[last].startswith("|"):
                last += 1
            yield Block(mark, first, last)
        else:
            yield Block(mark, first, first)


def unmarked(page: str, lines: Sequence[str]) -> list[str]:
    """Return where a page has a block of output without a mark.

    Such a block is a fence that is not a list of commands. A fence with a language other than JSON
    is a file or a program, and needs no mark.
    """
    marked = {block.first for block in blocks(page, lines)}
    found, opened = [], None
    for number, text in enumerate(lines):
        if not text.startswith("```"):
            continue
        if opened is not None:
            inner = [line for line in lines[opened + 1 : number] if line.strip()]
            language = lines[opened][3:].strip()
            if language in {"", "json"} and opened + 1 not in marked and not _commands(inner):
                found.append(f"{page}:{opened + 1}")
            opened = None
        else:
            opened = number
    return found


def _commands(lines: Sequence[str]) -> bool:
    """Say whether all lines are commands."""
    return all(
        re.match(r"\$ |#|(?:hardcost|dask|make|grep|podman|\.venv/bin/\w+)\b", one) for one in lines
    )


# Matching lines -----------------------------------------------------------------------------------


def merged(block: Sequence[str], output: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return a block updated from the output, and its lines that the output lacks.

    The lines are aligned in order, so that as many as possible are identical, or identical except
    for figures; a line keeps following the one that it followed if possible.
    """
    wanted = [at for at, line in enumerate(block) if _is_matched(line)]
    likeness = [[_likeness(block[at], line) for line in output] for at in wanted]
    follows = [nth > 0 and wanted[nth - 1] == at - 1 for nth, at in enumerate(wanted)]
    found, aligned = list(block), _aligned(likeness, follows)
    for nth, to in aligned.items():
        found[wanted[nth]] = output[to]
    return found, [block[at] for nth, at in enumerate(wanted) if nth not in aligned]


def _is_matched(line: str) -> bool:
    return bool(line.strip()) and line.strip() != _GAP and not line.startswith("$ ")


def _likeness(line: str, other: str) -> float:
    """Return how alike two lines are: 3 if equal, 2 except for figures, 1 if nearly, else 0."""
    if line == other:
        return 3.0
    mine, its = _key(line), _key(other)
    if mine == its:
        return 2.0
    if not mine.strip("# ") or not its.strip("# "):
        return 0.0
    matcher = difflib.SequenceMatcher(None, mine, its, autojunk=False)
    alike = matcher.real_quick_ratio() >= _ALIKE and matcher.quick_ratio() >= _ALIKE
    return 1.0 if alike and matcher.ratio() >= _ALIKE else 0.0


def _key(line: str) -> str:
    """Return a line without its figures and their alignment."""
    words = ("#" if _FIGURE.fullmatch(word) else word for word in re.split(r"[\s│]+", line.strip()))
    return re.sub(r"-{2,}|━+|─+", "-", " ".join(words))


def _aligned(likeness: Sequence[Sequence[float]], follows: Sequence[bool]) -> dict[int, int]:
    """Return the line of the output for each line of a block, by dynamic programming.

    `likeness` is of each line of the block with each of the output; a line that `follows` the one
    above it counts more if it also follows that in the output.
    """
    lines, length = len(likeness), len(likeness[0]) if likeness else 0
    ends = [[-math.inf] * (length + 1) for _ in range(lines + 1)]  # with the last of each aligned
    best = [[0.0] * (length + 1) for _ in range(lines + 1)]
    for i, j in itertools.product(range(1, lines + 1), range(1, length + 1)):
        if likeness[i - 1][j - 1]:
            run = ends[i - 1][j - 1] + _FOLLOWING if follows[i - 1] else -math.inf
            ends[i][j] = likeness[i - 1][j - 1] + max(best[i - 1][j - 1], run)
        best[i][j] = max(ends[i][j], best[i - 1][j], best[i][j - 1])
    found: dict[int, int] = {}
    i, j, in_run = lines, length, False
    while i and j:
        if in_run or best[i][j] == ends[i][j]:
            found[i - 1] = j - 1
            rest = ends[i][j] - likeness[i - 1][j - 1]
            in_run = follows[i - 1] and ends[i - 1][j - 1] + _FOLLOWING == rest
            i, j = i - 1, j - 1
        elif best[i][j] == best[i - 1][j]:
            i -= 1
        else:
            j -= 1
    return found


# Producing ----------------------------------------------------------------------------------------


@dataclass
class Producer:
    """Runs the commands of marks in a folder of its own, each command once."""

    folder: Path
    store: Path | None = None  # None: a fresh one
    printed: dict[tuple[str, ...], str] = field(default_factory=dict)
    named: dict[str, Mark] = field(default_factory=dict)

    def prepare(self) -> None:
        """Set up the folder that commands expect: the project's files, and writable places."""
        shutil.copytree(ROOT / "docs", self.folder / "docs")
        for name in ("audit_rules", "bench", "linux-audit", "src", "tests"):
            (self.folder / name).symlink_to(ROOT / name)

    @cached_property
    def _environment(self) -> dict[str, str]:
        paths = os.pathsep.join(map(str, (ROOT / "src", ROOT / "audit_rules" / "src", ROOT)))
        store = str(self.store or self.folder / "store.sqlite")
        return {**os.environ, "PYTHONPATH": paths, "HARDCOST_STORE": store, "COLUMNS": "120"}

    def output(self, mark: Mark, *more: str) -> str:
        """Return the output of a mark's command.

        Raises:
            FiguresError: It failed.
        """
        words = (*mark.words, *more)
        if words not in self.printed:
            argv = _argv(words)
            print(f"{mark.where}: {shlex.join(words)}", file=sys.stderr, flush=True)
            done = subprocess.run(  # noqa: S603  (the project's own pages say what is run)
                argv, cwd=self.folder, env=self._environment, capture_output=True, check=False
            )
            if done.returncode >= _FAILED:
                output = done.stderr.decode(errors="replace")[-2000:]
                raise FiguresError(f"{mark.where}: status {done.returncode}: {output}")
            self.printed[words] = _STAMP.sub(_ONE_STAMP, done.stdout.decode())
        return self.printed[words]

    def data(self, mark: Mark) -> dict[str, Any]:
        """Return the output of a mark's command as JSON."""
        found: dict[str, Any] = json.loads(self.output(mark, "--format", "json"))
        return found

    def produced(self, mark: Mark, block: Sequence[str]) -> tuple[list[str], list[str]]:
        """Return the block for a mark, and lines of the old block that nothing produces.

        Raises:
            FiguresError: The command failed, or does not print what the mark requires.
        """
        if "name" in mark.options:
            self.named[mark.options["name"]] = mark
        first = mark.words[0]
        if first == "file":
            (self.folder / mark.words[1]).write_text("".join(f"{line}\n" for line in block))
            return list(block), []
        if first == "cell":
            _, configuration, metric, _, name = mark.words
            cell = _cell(self.data(self._of(mark, name)), configuration, metric)
            return textwrap.wrap(json.dumps(cell), 100, subsequent_indent=" "), []
        if "rows" in mark.options:
            return _table(mark, self.data(mark), block), []
        output = [line.rstrip() for line in self.output(mark).splitlines()]
        if "first" in mark.options:
            return output[: int(mark.options["first"])], []
        return merged(block, output)

    def figure(self, mark: Mark, name: str, what: str) -> str:
        """Return the figure `what` of the command called `name`, as shown in a sentence."""
        return figure(self.data(self._of(mark, name)), what)

    def _of(self, mark: Mark, name: str) -> Mark:
        if name not in self.named:
            raise FiguresError(f"{mark.where}: no mark above is called {name!r}")
        return self.named[name]


def _argv(words: Sequence[str]) -> list[str]:
    """Return the command line for a mark's words."""
    placed = [_PACKAGE.sub(lambda found: str(package_root(found[1])), word) for word in words]
    if placed[0] == "sh":
        return ["sh", "-c", placed[1]]
    if placed[0] == "python":
        return [sys.executable, *placed[1:]]
    return [sys.executable, "-c", "from hardcost.cli.main import main; main()", *placed]


def _cell(data: Mapping[str, Any], configuration: str, metric: str) -> dict[str, Any]:
    for cell in data["cells"]:
        if (cell["configuration"], cell["metric"]) == (configuration, metric):
            return dict(cell)
    raise FiguresError(f"there is no cell of {configuration} and {metric}")


def _table(mark: Mark, data: Mapping[str, Any], block: Sequence[str]) -> list[str]:
    """Return a table with the figures of a row for each configuration, its labels unchanged.

    A row `a - b` is by how much a exceeds b; `show: diff` gives differences from the baseline.
    """
    rows = mark.listed("rows")
    if len(rows) != len(block) - 2:
        raise FiguresError(f"{mark.where}: {len(rows)} rows are named, and {len(block) - 2} there")
    key = "difference" if mark.options.get("show") == "diff" else "value"
    found = list(block[:2])
    for row, line in zip(rows, block[2:], strict=True):
        label = line.split("|")[1].strip()
        of, minus, against = row.partition(" - ")
        cells = []
        for metric in mark.listed("metrics"):
            value = _cell(data, of, metric)[key]
            if minus:
                value -= _cell(data, against, metric)[key]
            signed = bool(minus) or key == "difference"
            cells.append(
                f"{value:+,.0f}".replace("-", "\N{MINUS SIGN}") if signed else f"{value:,.0f}"
            )
        found.append(f"| {' | '.join([label, *cells])} |")
    return found


def figure(data: Mapping[str, Any], what: str) -> str:
    """Return a figure of a bill or run in JSON, such as `null interaction` or `open with`.

    Of a bill: `METRIC total|without|with|times|fixed|interaction|most|usual`, where `most` is the
    largest cost of one control and `usual` the cost that most controls have. Of a run:
    `CONFIGURATION METRIC value|diff|more|times`, `more` being in per cent, and
    `CONFIGURATION mean`.
    """
    *of, kind = what.split()
    if kind == "mean":
        means = {one["configuration"]: one for one in data["means"] if one["workload"] is None}
        return f"{(means[' '.join(of)]['ratio'] - 1) * 100:.1f}%"
    if "totals" in data:
        return _of_bill(data, " ".join(of), kind)
    cell = _cell(data, " ".join(of[:-1]), of[-1])
    more = (cell["ratio"] - 1) * 100
    forms = {
        "value": f"{cell['value']:,.0f}",
        "diff": f"{abs(cell['difference']):,.0f}",
        "more": f"{more:.0f}%" if abs(more) >= 10 else f"{more:.1f}%",  # noqa: PLR2004
        "times": f"{cell['ratio']:.1f}",
    }
    return forms[kind]


def _of_bill(data: Mapping[str, Any], metric: str, kind: str) -> str:
    def of(rows: str) -> list[dict[str, Any]]:
        return [row for row in data[rows] if row["metric"] == metric]

    (total,) = of("totals")
    costs = [row["cost"] for row in of("items")]
    counted = Counter(cost for cost in costs if cost)
    values = {
        "total": total["cost"],
        "without": total["baseline"],
        "with": total["with_profile"],
        "fixed": sum(one["cost"] for one in of("fixed")),
        "interaction": of("interaction")[0]["cost"],
        "most": max(costs, default=0),
        "usual": counted.most_common(1)[0][0] if counted else 0,
    }
    if kind == "times":
        return f"{total['with_profile'] / total['baseline']:.1f}"
    return f"{values[kind]:,.0f}"


# The whole ----------------------------------------------------------------------------------------


def renewed(page: str, text: str, producer: Producer, *, slow: bool) -> tuple[str, list[str]]:
    """Return a page with updated figures, and the faults; their text stays unchanged."""
    lines, faults = text.split("\n"), []
    found: list[str] = []
    at = 0
    skipped: set[str] = set()
    for block in blocks(page, lines):
        found += lines[at : block.first]
        at = block.last
        if block.mark.slow and not slow:
            found += block.lines(lines)
            skipped.add(block.mark.options.get("name", ""))
            continue
        try:
            new, missing = producer.produced(block.mark, block.lines(lines))
        except FiguresError as error:
            new, missing = block.lines(lines), []
            faults.append(str(error))
            skipped.add(block.mark.options.get("name", ""))
        found += new
        faults += [f"{block.mark.where}: nothing produces the line: {line}" for line in missing]
    found += lines[at:]
    named = {block.mark.options.get("name"): block.mark for block in blocks(page, lines)}

    def anew(inline: re.Match[str]) -> str:
        name, what = inline["name"], inline["what"]
        mark = named.get(name)
        if mark is None:
            faults.append(f"{page}: no mark is called {name!r}")
        if mark is None or name in skipped:
            return inline[0]
        try:
            return f"{producer.figure(mark, name, what)}<!--= {name} {what} -->"
        except (FiguresError, KeyError, ValueError) as error:
            faults.append(f"{page}: {name} has no figure {what!r}: {error}")
            return inline[0]

    return _INLINE.sub(anew, "\n".join(found)), faults


def main() -> int:
    """Update or compare the figures, and return the exit status."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("pages", nargs="*", metavar="PAGE", help=f"default: {', '.join(PAGES)}")
    parser.add_argument("--check", action="store_true", help="compare; 1 if a figure differs")
    parser.add_argument("--slow", action="store_true", help="include slow commands")
    parser.add_argument(
        "--store",
        type=lambda text: Path(text).resolve(),
        help="continue with this store, such as that of an interrupted run (default: a fresh one)",
    )
    chosen = parser.parse_args()
    differ = False
    with tempfile.TemporaryDirectory(prefix="hardcost-figures-") as folder:
        producer = Producer(Path(folder), chosen.store)
        producer.prepare()
        for page in chosen.pages or PAGES:
            path = ROOT / page
            text = path.read_text()
            new, faults = renewed(page, text, producer, slow=chosen.slow)
            differ = differ or bool(faults) or (chosen.check and new != text)
            for fault in faults:
                print(fault, file=sys.stderr)
            if chosen.check:
                old = text.splitlines(keepends=True)
                diff = difflib.unified_diff(old, new.splitlines(keepends=True), page, "measured")
                sys.stdout.writelines(itertools.chain(diff))
            elif new != text:
                path.write_text(new)
                print(f"{page}: updated")
    return int(differ)


if __name__ == "__main__":
    sys.exit(main())

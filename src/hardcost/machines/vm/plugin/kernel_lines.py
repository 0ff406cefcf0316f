"""The lines of a kernel's function: from a build of the same kernel with debug data.

Debug data change no code, so what is measured is the kernel as it is; its twin says from which
line each instruction comes. That their code is the same is checked, byte by byte.
"""

from __future__ import annotations

import asyncio
import difflib
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from auditrules.model.location import Location
from hardcost.errors import HardcostError, InputError, MachineError
from hardcost.machines.vm.argv import Recipe
from hardcost.machines.vm.boot_kernel import BootKernel
from hardcost.machines.vm.plugin import line_table
from hardcost.machines.vm.plugin.line_table import AddressRange
from hardcost.protocol.boot import Boot, KernelRecipe
from hardcost.protocol.plugin.lines import FunctionLines, piece
from hardcost.supply.cache import built_kernels
from hardcost.supply.cache.built_kernels import Built
from hardcost.supply.cache.cache import Cache
from hardcost.supply.kernels.builder import Kernels

_OPTIONS = (("DEBUG_INFO_NONE", "n"), ("DEBUG_INFO_DWARF5", "y"))
_WORDS = 3  # of a line `kernel ADDRESS NAME`
_LIKE = 3
_GAP = 6  # lines without code that are shown between lines with code
_LONGEST = 200  # characters of a line
_TAB = 4


async def lines_of(
    recipe: Recipe, of: KernelRecipe | None, symbols: Path, kernels: Kernels
) -> FunctionLines:
    """Return the lines of the function that a boot names; nothing if it names none.

    `of` is what its kernel was built of, `symbols` is the plugin's table of its symbols. The
    kernel's twin with debug data is built unless it is in the cache.

    Raises:
        InputError: There is no such function, or the kernel has no debug data.
        MachineError: The twin can't be built, or its code is another.
    """
    boot = recipe.boot
    if not boot.lines or of is None:
        return FunctionLines()
    places = list(places_of(await asyncio.to_thread(symbols.read_text), boot.lines))
    twin = await _twin(of, recipe.kernel, kernels)
    found = [await asyncio.to_thread(line_table.rows, twin, *place[1:]) for place in places]
    if not found[0]:
        raise InputError(f"--lines: the kernel's debug data say no line of {boot.lines}")
    names = _Names(kernels, of)
    source_text = "".join(
        f"kernel {row.address:x} {piece(name, names.line(row))}\n"
        for (name, start, _), rows in zip(places, found, strict=True)
        for row in rows
        if (name, row.address) != (places[0][0], start)
    )
    rows = [row for each in found for row in each]
    return FunctionLines(places[0][0], names.line(found[0][0]), source_text, names.source(rows))


def check(boot: Boot, of: KernelRecipe | None) -> None:
    """Check that lines can be counted where a boot asks for that, of a kernel built of `of`.

    Raises:
        InputError: Its kernel was not built here.
    """
    if boot.lines and of is None:
        raise InputError(
            "--lines: hardcost did not build this kernel, or would build another one today, so"
            " nothing says which instruction belongs to which line",
            hint="name one of `hardcost kernel list` by --kernel, or have one built, by kernel ="
            ' "lean" in the profile\'s file',
        )


def recipe_of(image_digest: str, known: Iterable[Built], kernels: Kernels) -> KernelRecipe | None:
    """Return which of the `known` recipes an image was built of; None if it was none of them.

    It is None too where the same recipe would be another kernel now: another source or compiler.
    """
    for one in known:
        if one.about["sha256"] != image_digest:
            continue
        options = (option.partition("=") for option in one.about["options"].split())
        recipe = KernelRecipe(
            one.about["base"],
            tuple((name, value) for name, _, value in options),
            tolerant=True,
            patches=tuple(dict.fromkeys(name.partition("/")[0] for name in one.patches)),
        )
        try:
            return recipe if kernels.name(recipe) == one.name else None
        except HardcostError:  # a base or a patch of the user's has gone
            return None
    return None


def twin_of(recipe: KernelRecipe) -> KernelRecipe:
    """Return the recipe of a kernel's twin with debug data."""
    return replace(recipe, options=(*recipe.options, *_OPTIONS), tolerant=True)


class BuiltHere:
    """The kernels that are, or were, built for boots; `kernel` returns the one that is there."""

    def __init__(
        self, cache: Cache, kernels: Kernels, kernel: Callable[[Boot], BootKernel]
    ) -> None:
        self._cache = cache
        self._kernels = kernels
        self._kernel = kernel
        self._recipes: dict[str, KernelRecipe | None] = {}

    def recipe_for(self, boot: Boot) -> KernelRecipe | None:
        """Return the recipe of a boot's kernel; of one that was built before, only for `lines`."""
        if boot.kernel is not None or not boot.lines:
            return boot.kernel
        image = self._kernel(boot).digest
        if image not in self._recipes:
            known = built_kernels.kept_kernels(self._cache)
            self._recipes[image] = recipe_of(image, known, self._kernels)
        return self._recipes[image]

    def kernels_to_build(self, boot: Boot) -> tuple[KernelRecipe, ...]:
        """Return all that is built for a boot: its kernel, and the twin that has its lines."""
        own = () if boot.kernel is None else (boot.kernel,)
        of = self.recipe_for(boot) if boot.lines else None
        return own if of is None else (*own, twin_of(of))


async def _twin(recipe: KernelRecipe, image: Path, kernels: Kernels) -> Path:
    """Return the image of a kernel's twin with debug data."""
    twin = (await kernels.build(twin_of(recipe))).image
    codes = [await asyncio.to_thread(line_table.code_digest, one) for one in (image, twin)]
    if codes[0] != codes[1]:
        raise MachineError(
            "the kernel with debug data has other code than the one without, so its lines say"
            " nothing of it",
            hint="please report it, with what `hardcost doctor` prints",
        )
    return twin


def places_of(symbols: str, function: str) -> Iterator[tuple[str, int, int]]:
    """Yield name, begin and end of a function, then of the part of it that seldom runs.

    Raises:
        InputError: There is none of that name, or there are several.
    """
    known = sorted(
        (int(address, 16), name)
        for kind, address, name in (
            line.split(" ", _WORDS - 1) for line in symbols.splitlines() if line.count(" ") > 1
        )
        if kind == "kernel"
    )
    ends = [address for address, _ in known[1:]]
    places = [(name, address, end) for (address, name), end in zip(known, ends, strict=False)]
    exact = [one for one in places if one[0] == function]
    # The compiler may have specialised it: then its name has a suffix.
    mine = exact or [one for one in places if _plain(one[0]) == function and _is_whole(one[0])]
    if len(mine) != 1:
        raise InputError(
            f"--lines: the kernel has {len(mine) or 'no'} functions of the name {function!r}",
            hint=_hint(function, [name for _, name in known], several=bool(mine)),
        )
    yield mine[0]
    yield from (one for one in places if one[0].startswith(f"{mine[0][0]}.cold"))


def _plain(name: str) -> str:
    return name.partition(".")[0]


def _is_whole(name: str) -> bool:
    return ".cold" not in name


def _hint(function: str, names: Sequence[str], *, several: bool) -> str:
    if several:
        return "name one of them as /proc/kallsyms does"
    like = difflib.get_close_matches(function, names, _LIKE)
    inlined = "the compiler may have inlined it: name the function that calls it"
    return f"{inlined}; similar names: {', '.join(like)}" if like else inlined


class _Names:
    """Names of files as the source has them, and the text of their lines."""

    def __init__(self, kernels: Kernels, recipe: KernelRecipe) -> None:
        self._text = functools.partial(kernels.text, recipe)
        self._known: dict[str, tuple[str, Sequence[str]]] = {}

    def line(self, row: AddressRange) -> Location:
        """Return where a row's line stands."""
        return Location(self._file(row.file)[0], row.line)

    def source(self, rows: Sequence[AddressRange]) -> dict[Location, str]:
        """Return the text of the lines with code, and of those in small gaps between them."""
        by_file: dict[str, set[int]] = {}
        for row in rows:
            by_file.setdefault(row.file, set()).add(row.line)
        found = {}
        for path, numbers in by_file.items():
            name, text = self._file(path)
            for number in _with_gaps(sorted(numbers)):
                if 0 < number <= len(text):
                    line = text[number - 1].expandtabs(_TAB)[:_LONGEST]
                    found[Location(name, number)] = line
        return found

    def _file(self, path: str) -> tuple[str, Sequence[str]]:
        """Return the name and the lines of a file whose path ends as it does in the source."""
        if path not in self._known:
            self._known[path] = path, ()
            parts = path.split("/")
            for at in range(len(parts)):
                name = "/".join(parts[at:])
                text = self._text(name)
                if text is not None:
                    self._known[path] = name, text.splitlines()
                    break
        return self._known[path]


def _with_gaps(numbers: Sequence[int]) -> Iterator[int]:
    last = 0
    for number in numbers:
        if last and number - last <= _GAP:
            yield from range(last + 1, number)
        yield number
        last = number

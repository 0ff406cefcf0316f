from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from hardcost.auditrules import parse
from hardcost.auditrules.cost.constants import Constants
from hardcost.auditrules.knownpaths import target_of
from hardcost.auditrules.lint import checks
from hardcost.auditrules.lint.context import Context, Options, gather
from hardcost.auditrules.root import Root
from hardcost.auditrules.translate import AS_WRITTEN

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from hardcost.auditrules.lint.diagnostic import Diagnostic


@pytest.fixture
def constants() -> Constants:
    return Constants.of_debian()


@pytest.fixture
def context_of(constants: Constants) -> Callable[..., Context]:
    """What lines of a file x.rules come to."""

    def build(
        *lines: str, b32: bool = True, root: Path | None = None, whole: bool = False
    ) -> Context:
        machine = None if root is None else Root(root)
        target = AS_WRITTEN if machine is None else target_of(machine)
        options = Options(b32, machine, whole, constants)
        readings = parse.read_bytes("\n".join(lines).encode(), "x.rules")
        return gather([readings], (), options, target)

    return build


@pytest.fixture
def lint(context_of: Callable[..., Context]) -> Callable[..., tuple[Diagnostic, ...]]:
    """The findings of one code in lines of a file x.rules."""

    def find(code: str, *lines: str, **options: object) -> tuple[Diagnostic, ...]:
        return checks.lint(context_of(*lines, **options), {code})

    return find

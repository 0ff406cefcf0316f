from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from auditrules.auditctl.translate import AS_WRITTEN
from auditrules.cost.constants import Constants
from auditrules.lint import checks
from auditrules.lint.context import Context, LintOptions, gather
from auditrules.lint.diagnostic import Diagnostic
from auditrules.load.known_paths import target_of
from auditrules.load.root import Root
from auditrules.read import parse


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
        options = LintOptions(b32, machine, whole, constants)
        readings = parse.read_bytes("\n".join(lines).encode(), "x.rules")
        return gather([readings], (), options, target)

    return build


@pytest.fixture
def lint(context_of: Callable[..., Context]) -> Callable[..., tuple[Diagnostic, ...]]:
    """The findings of one code in lines of a file x.rules."""

    def find(code: str, *lines: str, **options: object) -> tuple[Diagnostic, ...]:
        return checks.findings_in(context_of(*lines, **options), {code})

    return find

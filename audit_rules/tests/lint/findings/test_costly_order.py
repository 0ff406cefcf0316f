from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from auditrules.cost.constants import Constants
from auditrules.lint import checks
from auditrules.lint.context import Context
from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "costly-order"


def test_a_costly_condition_in_front_is_reported_with_what_it_takes(
    lint: Lint, constants: Constants
) -> None:
    rule = "-a always,exit -F arch=b64 -S openat -F exe=/usr/bin/vim -F exit=-EACCES -k x"
    (found,) = lint(CODE, rule)
    assert "exe=/usr/bin/vim is tested before exit=-EACCES" in found.message
    assert found.cost is not None
    assert found.cost.instructions == constants.field["exe"]


def test_the_cheap_one_in_front_is_as_it_should_be(lint: Lint) -> None:
    assert not lint(
        CODE, "-a always,exit -F arch=b64 -S openat -F exit=-EACCES -F exe=/usr/bin/vim -k x"
    )


def test_conditions_that_take_about_the_same_are_left_alone(lint: Lint) -> None:
    assert not lint(CODE, "-a always,exit -F arch=b64 -S openat -F auid>=1000 -F uid=0 -k x")


def test_nothing_is_said_without_constants_or_of_watched_files(
    context_of: Callable[..., Context],
) -> None:
    rule = "-a always,exit -F exe=/usr/bin/vim -F exit=-EACCES -S all -k x"
    context = context_of(rule)
    assert checks.findings_in(context, {CODE})
    unpriced = replace(context, options=replace(context.options, constants=None))
    assert not checks.findings_in(unpriced, {CODE})
    assert not checks.findings_in(context_of(f"{rule} -F path=/x"), {CODE})

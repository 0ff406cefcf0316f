from __future__ import annotations

from collections.abc import Callable

import pytest

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "quotes"


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('-w /etc/shadow -p wa -k "identity"', 'the key "identity"'),
        ("-w /etc/shadow -p wa -k 'identity'", "the key 'identity'"),
        ('-w /etc/shadow -p wa -F key="identity"', 'the key "identity"'),
        ("-w /etc/shadow -p wa -k identity'", "the key identity'"),
        ('-w /etc/shadow -p wa -k "identity"\r', 'the key "identity"\r'),
        ('-w /etc/"shadow" -p wa -k x', 'the path /etc/"shadow"'),
        ("-a always,exit -S open -F subj_type='a_t' -k x", "the value of subj_type 'a_t'"),
    ],
)
def test_quotes_that_are_loaded_are_found(lint: Lint, line: str, what: str) -> None:
    (found,) = lint(CODE, "# rules", line)
    assert (found.spot.line, found.level) == (2, "warning")
    assert found.message == f"the quotes are part of {what}: auditctl has no quoting"


def test_an_apostrophe_within_a_word_is_not_found(lint: Lint) -> None:
    assert not lint(CODE, "-w /home/o'brien -p wa -k o'brien", '# "x"')


def test_what_can_not_be_loaded_is_not_found_twice(lint: Lint) -> None:
    line = '-w "/etc/shadow" -p wa -k x'
    assert not lint(CODE, line)
    (found,) = lint("cannot-load", line)
    assert found.remedy == "remove the quotes, which auditctl treats as part of the word"

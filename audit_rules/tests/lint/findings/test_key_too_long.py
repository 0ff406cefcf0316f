from __future__ import annotations

from collections.abc import Callable

from auditrules.lint.diagnostic import Diagnostic

Lint = Callable[..., tuple[Diagnostic, ...]]

CODE = "key-too-long"


def test_a_key_of_257_bytes_is_too_long_and_told_once(lint: Lint) -> None:
    line = f"-w /etc/shadow -p wa -k {'k' * 257}"
    (found,) = lint(CODE, line)
    assert (found.spot.line, found.spot.column, found.level) == (1, 22, "error")
    assert "257 bytes" in found.message
    assert not lint("cannot-load", line)


def test_bytes_count_and_not_letters(lint: Lint) -> None:
    assert lint(CODE, f"-w /etc/shadow -p wa -k {'ä' * 129}")


def test_several_keys_count_together_with_what_separates_them(lint: Lint) -> None:
    (found,) = lint(CODE, f"-w /etc/shadow -p wa -k {'a' * 128} -k {'b' * 128}")
    assert "257 bytes" in found.message


def test_a_key_of_256_bytes_is_not_too_long(lint: Lint) -> None:
    assert not lint(CODE, f"-w /etc/shadow -p wa -k {'k' * 256}")
    assert not lint("cannot-load", f"-w /etc/shadow -p wa -k {'k' * 256}")

"""Kconfig's expressions: `A && !B || C = y`, evaluated against a configuration."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from hardcost.supply.kernels.config import value

_TOKEN = re.compile(r'\s*(&&|\|\||!=|>=|<=|[!=<>()]|"[^"]*"|\$\((?:[^()]|\([^()]*\))*\)|[\w-]+)')
_SIGNS = ("=", "!=", "<", ">", "<=", ">=")
_OPERATORS = ("&&", "||", ")", *_SIGNS)
_NUMBER = re.compile(r"-?\d+|0x[0-9a-fA-F]+")
_OPTION = re.compile(r"[A-Z0-9]\w*")

_Result = tuple[bool | None, list[str]]
"""Whether an expression holds (None: unknown here), and the remaining tokens."""


def holds(expression: str, config: Mapping[str, str]) -> bool:
    """Say whether an expression holds in `config`; one that can't be evaluated counts as true."""
    if not expression.strip():
        return True
    tokens = _TOKEN.findall(expression)
    try:
        result, rest = _either(tokens, config)
    except (IndexError, RecursionError):
        return True
    return True if rest or result is None else result


def parts(expression: str) -> list[str]:
    """Return the operands of `&&` at the top of an expression."""
    found, depth, current = [], 0, ""
    for word in _TOKEN.findall(expression):
        depth += {"(": 1, ")": -1}.get(word, 0)
        if word == "&&" and depth == 0:
            found.append(current)
            current = ""
        else:
            current += word if current.endswith("!") else f" {word}"
    return [part.strip() for part in (*found, current) if part.strip()]


def names(expressions: Iterable[str]) -> list[str]:
    """Return the options in expressions, in order."""
    tokens = [token for part in expressions for token in _TOKEN.findall(part)]
    return [token for token in tokens if _OPTION.fullmatch(token)]


def _either(tokens: list[str], config: Mapping[str, str]) -> _Result:
    result, rest = _both(tokens, config)
    while rest and rest[0] == "||":
        other, rest = _both(rest[1:], config)
        result = True if True in {result, other} else None if None in {result, other} else False
    return result, rest


def _both(tokens: list[str], config: Mapping[str, str]) -> _Result:
    result, rest = _operand(tokens, config)
    while rest and rest[0] == "&&":
        other, rest = _operand(rest[1:], config)
        result = False if False in {result, other} else None if None in {result, other} else True
    return result, rest


def _operand(tokens: list[str], config: Mapping[str, str]) -> _Result:
    first, rest = tokens[0], tokens[1:]
    if first in _OPERATORS:
        raise IndexError(first)
    if first == "!":
        result, rest = _operand(rest, config)
        return (None if result is None else not result), rest
    if first == "(":
        result, rest = _either(rest, config)
        return result, rest[1:]
    if rest and rest[0] in _SIGNS:
        return _compare(first, rest[0], rest[1], config), rest[2:]
    if first.startswith("$("):
        return None, rest
    return _text(first, config) in {"y", "m"}, rest


def _compare(left: str, sign: str, right: str, config: Mapping[str, str]) -> bool | None:
    if left.startswith("$(") or right.startswith("$("):
        return None
    a, b = _text(left, config), _text(right, config)
    if sign in {"=", "!="}:
        return (a == b) == (sign == "=")
    try:
        x, y = int(a, 0), int(b, 0)
    except ValueError:
        return None
    return {"<": x < y, ">": x > y, "<=": x <= y, ">=": x >= y}[sign]


def _text(token: str, config: Mapping[str, str]) -> str:
    """Return the value of a token: a literal, or an option's value."""
    if token.startswith('"'):
        return token[1:-1]
    if token in {"y", "m", "n"} or _NUMBER.fullmatch(token):
        return token
    return value(config, token)

"""Names of controls in benchmarks, such as `RHEL-09-654010`, and their requirements.

`benchmarks/` has a file for each product, which `scripts/benchmark-controls` makes. Its first line
says where it is from; each other line is a control: its numbers in the STIG (`names`, with its CCE
number) and in CIS's benchmark (`cis`), the XCCDF rules that it consists of, and the keys of a
profile's file (`controls`) that carry them out, if hardcost has some.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import resources
from typing import Any

from hardcost.errors import InputError
from hardcost.profiles.importers.scap.rule_classes import class_of

_FOLDER = "benchmarks"
PRODUCTS = ("rhel9", "ubuntu2204", "ubuntu2404")
"""The products of which benchmarks' controls are known."""

_PREFIX = re.compile(r"(rhel-?9|ubuntu-?2[24]\.?04):(.+)", re.IGNORECASE)
_STIG = re.compile(r"(RHEL|UBTU)-\d\d-\d+|CCE-\d+-\d", re.IGNORECASE)
_VULNERABILITY = re.compile(r"S?(V-\d+)(?:r\d+_rule)?", re.IGNORECASE)
_REQUIREMENT = re.compile(r"SRG-[A-Z]+-\d+(-[A-Z]+-\d+)?", re.IGNORECASE)
_XCCDF = re.compile(r"xccdf_[^_]+_rule_([\w.-]+)")
_CIS = re.compile(r"(?:cis[ -])?(\d+(?:\.\d+){1,6})", re.IGNORECASE)
_UNKNOWN = "hardcost does not know what such a rule costs"


@dataclass(frozen=True)
class Required:
    """The requirements of a benchmark's control: keys of a profile's file, with its other names."""

    name: str
    title: str
    source: str
    tables: dict[str, Any]
    ids: tuple[str, ...]
    severity: str
    notes: tuple[str, ...] = ()

    @property
    def rules(self) -> tuple[str, ...]:
        """The audit rules, if nothing else is required."""
        audit = self.tables.get("audit", {}) if len(self.tables) == 1 else {}
        return tuple(audit["rules"]) if audit.keys() == {"rules"} else ()


@dataclass(frozen=True)
class _Product:
    """The controls of one product's benchmarks, each a line of JSON."""

    name: str
    title: str
    release: str
    stig: str
    cis: str
    lines: tuple[str, ...]

    def having(self, *words: str) -> list[dict[str, Any]]:
        """Return the lines in which one of the words stands as a whole."""
        quoted = [json.dumps(word) for word in words]
        return [json.loads(line) for line in self.lines if any(one in line for one in quoted)]

    @property
    def source(self) -> str:
        """Say whose numbers these are."""
        return f"{self.title}: STIG {self.stig}, CIS {self.cis} ({self.release})"


def is_name(text: str) -> bool:
    """Say whether a text is what a benchmark calls a control: it looks like it, or is known."""
    bare = _without_product(text)[1]
    forms = (_STIG, _VULNERABILITY, _REQUIREMENT, _XCCDF, _CIS)
    return any(form.fullmatch(bare) for form in forms) or bool(_find_controls(text))


def requirements_of(text: str) -> Required:
    """Return the requirements of a control by its STIG, CCE or CIS number, or XCCDF rule.

    `PRODUCT:` before it says which product's it is, such as `ubuntu2404:5.1.1`.

    Raises:
        InputError: No benchmark has such a control, several have, or nothing is known to carry it
            out.
    """
    found = _find_controls(text)
    bare = _without_product(text)[1]
    if not found:
        raise _unknown_error(text, bare)
    if len(found) > 1 and _CIS.fullmatch(bare):
        number = _key(bare)
        said = "; ".join(f"{one.name}:{number} is {_rules(row)}" for one, row in found)
        raise InputError(
            f"'{text}' is a number of {len(found)} CIS benchmarks",
            hint=f"say whose it is: {said}",
        )
    product, row = next((one for one in found if "controls" in one[1]), found[0])
    if "controls" not in row:
        raise InputError(
            f"hardcost has no control for {text} of {product.title}: {_missing_reason(row)}",
            hint="`hardcost list controls` lists those it has",
        )
    others = [f"{one.name}:{_key(bare)} is {one.title}'s" for one, _ in found if one != product]
    return Required(
        name=text,
        title=f"{text}: {_rules(row)}",
        source=product.source,
        tables=row["controls"],
        ids=tuple(dict.fromkeys((*row["rules"], *row.get("names", ())))),
        severity=row.get("severity", ""),
        notes=(f"{text} as {product.title} has it; {', '.join(others)}",) if others else (),
    )


def demanding_sysctl(key: str, value: str) -> tuple[str, ...]:
    """Return the names of the controls of all products that require a sysctl."""
    return _demanding(key, lambda tables: str(tables.get("sysctl", {}).get(key)) == value)


def demanding_boot(word: str) -> tuple[str, ...]:
    """Return the names of the controls of all products that require a boot parameter."""
    return _demanding(word, lambda tables: word in tables.get("boot", ()))


def demanding_rule(text: str) -> tuple[str, ...]:
    """Return the names of the controls of all products that require an audit rule, as written."""
    return _demanding(text, lambda tables: text in tables.get("audit", {}).get("rules", ()))


def _demanding(word: str, requires: Callable[[dict[str, Any]], bool]) -> tuple[str, ...]:
    """Return the names of the controls with `word` in their data whose tables require it."""
    found = (
        _number(product, row)
        for product in map(_product, PRODUCTS)
        for row in product.having(word)
        if requires(row.get("controls", {}))
    )
    return tuple(dict.fromkeys(found))


def _number(product: _Product, row: dict[str, Any]) -> str:
    """Return a control's number, with its product where others may have the same."""
    own = _own_number(row)
    return f"{product.name}:{own}" if _CIS.fullmatch(own) else own


def _own_number(row: dict[str, Any]) -> str:
    """Return a control's number in the STIG, else in CIS's benchmark, else CCE or XCCDF rule."""
    names = row.get("names", ())
    stig = (one for one in names if not one.startswith("CCE"))
    found: str = [*stig, *row.get("cis", ()), *names, *row["rules"]][0]
    return found


def tables_of(product: str, *kinds: str) -> list[dict[str, Any]]:
    """Return the tables of a profile's file that carry out a product's controls of some kinds."""
    found = (row.get("controls", {}) for row in _product(product).having(*kinds))
    return [tables for tables in found if not tables.keys().isdisjoint(kinds)]


def title_of(product: str) -> str:
    """Return a product's title, such as `Ubuntu 24.04`."""
    return _product(product).title


def source_of(product: str) -> str:
    """Say whose numbers a product's are."""
    return _product(product).source


def controls(product: str) -> list[str]:
    """Return the numbers of a product's controls that something carries out, one of each.

    That is the number in the STIG, else in CIS's benchmark, else the CCE number or XCCDF rule.
    """
    return [_own_number(row) for row in _product(product).having("controls") if "controls" in row]


@cache
def _product(name: str) -> _Product:
    folder = resources.files("hardcost.profiles").joinpath(_FOLDER)
    first, *lines = folder.joinpath(f"{name}.jsonl").read_text("utf-8").splitlines()
    return _Product(name=name, lines=tuple(lines), **json.loads(first))


def _find_controls(text: str) -> list[tuple[_Product, dict[str, Any]]]:
    """Return the control of that name in each product that has one."""
    wanted, bare = _without_product(text)
    key = _key(bare)
    field = "cis" if _CIS.fullmatch(bare) else "names"
    rule = _XCCDF.fullmatch(bare)
    return [
        (product, row)
        for product in map(_product, [wanted] if wanted else PRODUCTS)
        for row in product.having(rule[1] if rule else key)
        if (key in row.get(field, ()) and not rule) or row["rules"] == [rule[1] if rule else bare]
    ]


def _without_product(text: str) -> tuple[str | None, str]:
    """Return the product that a name begins with, if any, and the rest of it."""
    found = _PREFIX.fullmatch(text)
    if found is None:
        return None, text
    return found[1].lower().replace("-", "").replace(".", ""), found[2]


def _key(bare: str) -> str:
    """Return a name as the data have it."""
    if _STIG.fullmatch(bare):
        return bare.upper()
    number = _VULNERABILITY.fullmatch(bare) or _CIS.fullmatch(bare)
    return number[1].upper() if number else bare


def _rules(row: dict[str, Any]) -> str:
    rules = row["rules"]
    return rules[0] if len(rules) == 1 else f"{rules[0]} and {len(rules) - 1} more"


def _missing_reason(row: dict[str, Any]) -> str:
    """Say why nothing carries out a control."""
    own = row.get("why", {})
    said: dict[str, list[str]] = {}
    for rule in row["rules"]:
        known = class_of(rule)
        why = own.get(rule, _UNKNOWN) if known is None else known.reason
        said.setdefault(why, []).append(rule)
    return "; ".join(f"{why} ({', '.join(rules)})" for why, rules in said.items())


def _unknown_error(text: str, bare: str) -> InputError:
    if _REQUIREMENT.fullmatch(bare):
        return InputError(
            f"{text} is a requirement that many controls meet, and not a control",
            hint="name the control, such as RHEL-09-654010",
        )
    near = _near(text)
    meant = f"did you mean {' or '.join(near)}? " if near else ""
    known = "; ".join(_product(name).source for name in PRODUCTS)
    return InputError(f"no benchmark here has a control '{text}'", hint=f"{meant}known are {known}")


def _near(text: str) -> list[str]:
    """Return names that are near one that no benchmark has, written as that is."""
    wanted, bare = _without_product(text)
    rule, number = _XCCDF.fullmatch(bare), _CIS.fullmatch(bare)
    field = "rules" if rule else "cis" if number else "names"
    sought = rule[1] if rule else _key(bare)
    rows = (
        json.loads(line)
        for product in map(_product, [wanted] if wanted else PRODUCTS)
        for line in product.lines
    )
    every = sorted({name for row in rows for name in row.get(field, ())})
    start = text[: len(text) - len(rule[1] if rule else number[1] if number else bare)]
    return [f"{start}{one}" for one in difflib.get_close_matches(sought, every, 3, 0.8)]

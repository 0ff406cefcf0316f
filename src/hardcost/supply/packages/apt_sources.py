"""Debian's own package sources, taken from the configuration of the host's apt.

Guests hold Debian's packages and no others. So only those of the host's lines are used that are for
its own release and from Debian: suite and component are Debian's, and no foreign key signs them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from hardcost.errors import MachineError

APT = Path("/etc/apt")
_ONE_LINE = re.compile(r"^\s*deb\s+(?:\[([^\]]*)\]\s+)?(\S+)\s+(\S+)\s+(\S.*)$")
_FIELD = re.compile(r"^([A-Za-z0-9-]+):[ \t]*(.*(?:\n[ \t].*)*)", re.MULTILINE)
_KEPT = ("signed-by", "trusted", "check-valid-until")
UNSTABLE = "sid"
BACKPORTS = "-backports"
_DEBIANS_KEYS = "/debian-archive-"

Stanza = dict[str, str]


def debian_sources(codename: str, apt: Path = APT, as_of: str | None = None) -> str:
    """Return the host's sources of Debian's release `codename`, component main, in deb822 form.

    With `as_of`, the release of that code name replaces the host's own, at the same locations:
    Debian's mirrors hold all maintained releases. Unstable and backports have neither updates nor
    security fixes apart.

    Raises:
        MachineError: It has none.
    """
    stanzas = [found for one in _stanzas(apt) if (found := _debian_part(one, codename))]
    if not any(codename in stanza["suites"].split() for stanza in stanzas):
        raise MachineError(
            f"apt has no source of Debian's own packages for {codename} under {apt}",
            hint=f"add one with the suite {codename} and the component main, then apt-get update",
        )
    if as_of is not None:
        alone = as_of == UNSTABLE or as_of.endswith(BACKPORTS)
        for stanza in stanzas:
            suites = (one for one in stanza["suites"].split() if one == codename or not alone)
            stanza["suites"] = " ".join(one.replace(codename, as_of) for one in suites)
        stanzas = [stanza for stanza in stanzas if stanza["suites"]]
    return "\n".join(_stanza_text(stanza) for stanza in stanzas)


def _stanzas(apt: Path) -> Iterator[Stanza]:
    parts = apt / "sources.list.d"
    for path in (apt / "sources.list", *sorted(parts.glob("*.list"))):
        yield from _one_lines(_text(path))
    for path in sorted(parts.glob("*.sources")):
        yield from _deb822(_text(path))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return ""
    except OSError as error:
        raise MachineError(f"{path} can't be read: {error.strerror}") from error


def _one_lines(text: str) -> Iterator[Stanza]:
    for line in text.splitlines():
        found = _ONE_LINE.match(line.partition("#")[0])
        if found is not None:
            options, uri, suite, components = found.groups()
            pairs = (word.partition("=") for word in (options or "").split())
            own = {key.lower(): value for key, _, value in pairs}
            yield own | {"types": "deb", "uris": uri, "suites": suite, "components": components}


def _deb822(text: str) -> Iterator[Stanza]:
    plain = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for paragraph in re.split(r"\n[ \t]*\n", plain):
        stanza = {key.lower(): value.strip() for key, value in _FIELD.findall(paragraph)}
        if stanza:
            yield stanza


def _debian_part(stanza: Stanza, codename: str) -> Stanza | None:
    """Return the part of a stanza that is Debian's; None if there is none."""
    wanted = {codename, *(f"{codename}{end}" for end in ("-updates", "-security", "/updates"))}
    suites = [suite for suite in stanza.get("suites", "").split() if suite in wanted]
    keys = stanza.get("signed-by", "")
    is_foreign = keys.startswith("/") and _DEBIANS_KEYS not in keys
    if (
        not suites
        or is_foreign
        or "deb" not in stanza.get("types", "").split()
        or "main" not in stanza.get("components", "").split()
        or stanza.get("enabled", "yes").lower() in {"no", "false", "0", "off", "disable"}
    ):
        return None
    kept = {key: stanza[key] for key in _KEPT if key in stanza}
    uris = stanza.get("uris", "")
    return {"types": "deb", "uris": uris, "suites": " ".join(suites), "components": "main"} | kept


def _stanza_text(stanza: Stanza) -> str:
    names = {"uris": "URIs", "signed-by": "Signed-By", "check-valid-until": "Check-Valid-Until"}
    lines = []
    for key, value in stanza.items():
        gap = "\n " if "\n" in value else " "
        lines.append(f"{names.get(key, key.capitalize())}:{gap}{value}\n")
    return "".join(lines)

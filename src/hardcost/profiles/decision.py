"""A decision: the controls of a profile that are kept, and those that are given up, with costs.

Its file is a profile, so that every verb takes it for what is kept. The controls that are given up
follow as tables `[[given_up]]`, which say what each would have cost (`profiles/decision_entry.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import tomli_w

from hardcost.controls.control import Profile
from hardcost.errors import InputError
from hardcost.profiles import catalogue, toml_text
from hardcost.profiles.control_tables import PackageRoot
from hardcost.profiles.decision_entry import GivenUp


@dataclass(frozen=True)
class Decision:
    """The controls of a profile that are kept, and those given up."""

    kept: Profile
    given_up: tuple[GivenUp, ...]


def read_decision(path: Path, package_root: PackageRoot | None = None) -> Decision:
    """Return the decision in a file; one without `[[given_up]]` is a profile that keeps everything.

    Raises:
        InputError: It is no profile in TOML; all mistakes are reported, each with its location.
    """
    if path.suffix != ".toml":
        raise InputError(
            f"{path} is no decision: its name does not end in .toml",
            hint="`hardcost advise -o DECISION.toml` writes one",
        )
    return Decision(*catalogue.load_with_given_up(str(path), package_root))


def decision_text(decision: Decision) -> str:
    """Return a decision as a file that `read_decision` reads.

    Raises:
        InputError: A control can't be written so that it is read back as it is.
    """
    tables = toml_text.tables(decision.kept)
    given_up = [one.model_dump(mode="json") for one in decision.given_up]
    return tomli_w.dumps(tables | ({"given_up": given_up} if given_up else {}))

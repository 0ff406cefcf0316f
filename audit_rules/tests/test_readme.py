"""The example of the README is code that runs, and prints what the page shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from auditrules.cli.group import auditrules

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)


def test_the_example_prints_what_the_page_shows() -> None:
    at = [kind for kind, _ in BLOCKS].index("python")
    (_, code), (_, shown) = BLOCKS[at : at + 2]
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ran.stdout == shown


def test_the_page_has_every_verb() -> None:
    (lines,) = (text for kind, text in BLOCKS if kind == "sh")
    assert {line.split()[1] for line in lines.splitlines()} == auditrules.commands.keys()

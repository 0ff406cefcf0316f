"""The example of the README is code that runs, and prints what the page shows."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

README = Path(__file__).parents[1] / "README.md"


def test_the_example_prints_what_the_page_shows() -> None:
    code, shown = re.findall(
        r"^```(?:python)?\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL
    )
    ran = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert ran.stdout == shown

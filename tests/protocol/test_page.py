"""docs/protocol.md has the tables that the probe's types give."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def test_the_page_s_tables_are_those_of_the_types() -> None:
    ended = subprocess.run(
        [sys.executable, "scripts/protocol-page", "--check"], cwd=_ROOT, check=False
    )
    assert ended.returncode == 0, "run scripts/protocol-page"

"""The machines for tests, as another distribution would add its own: by entry points.

Whatever starts hardcost for a test has the folder `installed/` and the project's on its path.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hardcost.machines.names import MachineKind

FAKE = MachineKind("tests.fakes.machine", "tests.fakes.machine", restore="tests.fakes.machine")
FAKE_HOST = MachineKind("tests.fakes.host", "tests.fakes.machine", counter="fake")


def install() -> None:
    """Make the machines known in this process, and in those that it starts."""
    paths = [str(Path(__file__).parent / "installed"), str(Path(__file__).parents[2])]
    sys.path += [path for path in paths if path not in sys.path]
    before = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys([*paths, *filter(None, before)]))

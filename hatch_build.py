"""Put what runs in guests into the wheel, built for the machine that builds it."""

import subprocess
import sysconfig
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ProbeHook(BuildHookInterface):
    """Build the probe and the benchmark with Cargo and tag the wheel with the platform."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Prepare a wheel; an editable install finds what `make setup` built."""
        if version == "editable":
            return
        subprocess.run(["scripts/build-probe"], cwd=self.root, check=True)  # noqa: S607 our own
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"

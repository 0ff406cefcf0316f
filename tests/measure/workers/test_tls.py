"""A lab with TLS: with its certificates a run is as ever, and without them no worker gets in."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.measure.workers.certificates import authority
from tests.measure.workers.labs import HARDCOST, RunningLab
from tests.measure.workers.test_machine import STUDY


def options(certificates: Sequence[str]) -> list[str]:
    names = ("--tls-ca", "--tls-cert", "--tls-key")
    return [word for pair in zip(names, certificates, strict=True) for word in pair]


def test_only_who_has_certificates_of_the_lab_gets_in(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(STUDY)
    ours = options(authority(tmp_path, "ours"))
    with RunningLab(tmp_path, "tls", ours) as lab:
        lab.worker("one")
        done = run(tmp_path, "--workers", lab.address, *ours)
        assert done.returncode == 0, done.stderr
        assert f"1 worker at {lab.address}" in done.stderr
        theirs = options(authority(tmp_path, "theirs"))
        for status, said, words in (
            (3, f"no Dask scheduler answers at {lab.address}", (lab.address, *theirs)),
            (2, f"certificates are missing for {lab.address}", (lab.address,)),
            (3, "no Dask scheduler answers at tcp", (lab.address.replace("tls:", "tcp:"),)),
        ):
            done = run(tmp_path, "--fresh", "--workers", *words)
            assert (done.returncode, said in done.stderr) == (status, True), done.stderr
            assert "Traceback" not in done.stderr


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-c", HARDCOST, "run", "study.toml", "--machine", "fake", *words]
    own = {**os.environ, "HARDCOST_STORE": str(folder / "x.sqlite")}
    return subprocess.run(
        argv, env=own, cwd=folder, capture_output=True, text=True, check=False, timeout=300
    )

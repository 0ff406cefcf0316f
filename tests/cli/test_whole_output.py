"""Every verb that writes a file which a user names, on a full disk: the old file stays."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import click
import pytest

from hardcost.cli.command import hardcost
from tests.cli.verbs.conversations import FILES, MISSPELT

ON = ["--machine", "fake", "--jobs", "1", "--progress", "none"]
CALL = ["--workload", "syscalls calls=chmod"]
VERBS: dict[str, tuple[str, list[str]]] = {
    "rules optimize": ("x.rules", ["expensive.rules", "-o", "FILE", "--force"]),
    "rules lint": ("x.rules", ["--fix", "FILE"]),
    "import audit": ("x.toml", ["my.rules", "-o", "FILE"]),
    "import khc": ("x.toml", ["khc.json", "-o", "FILE"]),
    "import scap": ("x.rules", ["ds.xml", "--scap-profile", "p", "-o", "FILE"]),
    "import sysctl": ("x.toml", ["99-x.conf", "-o", "FILE"]),
    "export runs": ("x.csv", ["-o", "FILE"]),
    "export augenrules": ("50-hardcost.rules", ["my.rules", "-o", "FOLDER", "--force"]),
    "export sysctl": ("x.conf", ["99-x.conf", "-o", "FILE", "--force"]),
    "export cmdline": ("x.cfg", ["mixed.toml", "-o", "FILE", "--force"]),
    "export kconfig": ("x.config", ["kernels.toml", "-o", "FILE", "--force"]),
    "export ansible": ("README.md", ["mixed.toml", "-o", "FOLDER", "--force"]),
    "export bpftrace": ("README.md", ["my.rules", "-o", "FOLDER", "--force"]),
    "export workflow": ("x.yml", ["gitlab", "-o", "FILE", "--force"]),
    "export waivers": ("x.csv", ["decision.toml", "-o", "FILE", "--force"]),
    "export tailoring": (
        "x.xml",
        ["ds.xml", "decision.toml", "--scap-profile", "p", "-o", "FILE", "--force"],
    ),
    "here": ("x.toml", ["--root", "root", "-o", "FILE"]),
    "pricelist build": ("x.jsonl", ["kernel.sysrq=0", *ON, *CALL, "-o", "FILE"]),
    "pricelist site": ("index.html", ["-o", "FOLDER", "--force"]),
    "gate": ("x.json", ["few.rules", "my.rules", "--predict", "--write", "json=FILE"]),
    "run": ("x.html", ["study.toml", *ON, "--report", "FILE"]),
    "bill": ("x.html", ["few.rules", *ON, *CALL, "--report", "FILE"]),
    "report": ("x.html", ["last", "--report", "FILE"]),
    "hotspots": ("x.folded", ["few.rules", *ON, *CALL, "--format", "folded", "-o", "FILE"]),
    "trace": ("x.json", ["few.rules", *ON, "--call", "chmod", "--format", "json", "-o", "FILE"]),
    "advise": (
        "x.toml",
        ["few.rules", *ON, *CALL, "--budget", "200%", "--no-equivalents", "-o", "FILE"],
    ),
}
OLD = MISSPELT
FULL = """
import json, os, sys
from hardcost.cli.main import main
import hardcost.cli.command
import hardcost.library.advise, hardcost.measure.run, hardcost.show.page.page  # for all children

disk, old, verbs = sys.argv[1], *json.loads(sys.stdin.read())
for name, (file, words) in verbs.items():
    path = f"{disk}/{file}"
    open(path, "w").write(old)
    fill = open(f"{disk}/fill", "wb", buffering=0)
    try:
        while fill.write(bytes(4096)):
            pass
    except OSError:
        pass
    fill.close()
    words = [word.replace("FILE", path).replace("FOLDER", disk) for word in words]
    child = os.fork()
    if not child:
        sys.argv = ["hardcost", *name.split(), *words]
        os.dup2(os.open("out", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        os.dup2(os.open("err", os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 2)
        try:
            main()
        except SystemExit as ended:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(ended.code or 0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.unlink(f"{disk}/fill")
    content = open(path).read()
    os.unlink(path)
    left = [one for _, _, found in os.walk(disk) for one in found]
    said = {"status": status, "content": content, "left": left}
    said["out"], said["err"] = open("out").read(), open("err").read()
    print(json.dumps({name: said}), flush=True)
"""


@pytest.fixture(scope="module")
def ended(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """How each verb ended whose file lies on a full disk; store and input lie elsewhere."""
    place = tmp_path_factory.mktemp("full")
    for name, text in FILES.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    disk = place / "disk"
    disk.mkdir()
    inside = ["sh", "-c", f'mount -t tmpfs -o size=16k none {disk} && exec "$@"', "sh"]
    under = ["unshare", "--user", "--map-root-user", "--mount", *inside]
    if subprocess.run([*under, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this kernel lets only root mount a small disk")
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(place),
        "HARDCOST_CACHE": str(place / "cache"),
        "HARDCOST_STORE": str(place / "x.sqlite"),
        "PYTHONPATH": os.environ["PYTHONPATH"],  # the machine `fake`
    }
    order = sorted(VERBS.items(), key=lambda one: one[0] in {"report", "export runs"})
    done = subprocess.run(
        [*under, sys.executable, "-c", FULL, str(disk)],
        input=json.dumps([OLD, dict(order)]),
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, dict[str, Any]] = {}
    for line in done.stdout.splitlines():
        found |= json.loads(line)
    return found


@pytest.mark.parametrize("verb", VERBS)
def test_the_old_file_stays_where_the_disk_is_full(
    ended: dict[str, dict[str, Any]], verb: str
) -> None:
    said = ended[verb]
    assert "can't be written: No space left on device" in said["err"]
    assert "hint: free some space on its disk" in said["err"]
    assert said["status"] == 3
    assert said["content"] == OLD
    assert said["left"] == []


def _writing(command: click.Command, path: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the verbs with an option that names a file to write."""
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from _writing(below, (*path, name))
    elif {one.name for one in command.params} & {"out", "output", "report", "written", "fix"}:
        yield " ".join(path)


def test_every_verb_that_writes_a_file_is_among_them() -> None:
    assert set(_writing(hardcost)) == set(VERBS)

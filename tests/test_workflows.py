"""The ready workflow files: their steps, run in a repository, as far as the services allow."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from hardcost.cli.command import hardcost
from hardcost.errors import InputError
from tests import installing

ROOT = Path(__file__).resolve().parent.parent
EXAMPLES = ROOT / "src/hardcost/show/exports/workflows"
RULES = """\
-w /etc/passwd -p wa -k identity
-a always,exit -F arch=b64 -S chmod,fchmod -F auid>=1000 -k modes
"""
CHANGES = {
    "dir": ("-a always,exit -F dir=/srv/data -F perm=wa -k ::error::x\n", 1),
    "comments": ("# said better\n", 0),
    "broken": ("-a always,exit -S nosuch -k x\n", 2),
}
HARDCOST = f"""\
#!/bin/sh
exec {shlex.quote(sys.executable)} -c 'from hardcost.cli.main import main; main()' "$@"
"""


class Repository:
    """A repository with a change of rules, and what a job finds on its host."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.programs = folder.parent / "programs"
        for path in (folder / "rules.d", self.programs):
            path.mkdir(parents=True)
        program = self.programs / "hardcost"
        program.write_text(HARDCOST)
        program.chmod(0o755)
        (folder / "rules.d" / "10.rules").write_text(RULES)
        self.git("init", "-q", "-b", "main")
        self.base = self.commit()

    def git(self, *words: str) -> str:
        who = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
        argv = ["git", *who, *words]
        done = subprocess.run(argv, cwd=self.folder, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def commit(self) -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x")
        return self.git("rev-parse", "HEAD")

    def changed(self, line: str) -> str:
        """Commit a change, after another one on main, and return the change's commit."""
        self.git("switch", "-q", "-c", "topic")
        (self.folder / "rules.d" / "10.rules").write_text(RULES + line)
        found = self.commit()
        self.git("switch", "-q", "main")
        self.git("commit", "-q", "--allow-empty", "-m", "y")
        self.base = self.git("rev-parse", "HEAD")
        self.git("switch", "-q", "topic")
        return found

    def bash(self, script: str, environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
        """Run a step as a CI runner does."""
        paths = os.environ.get("PYTHONPATH", "")
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
            cwd=self.folder,
            env={
                "PATH": f"{self.programs}:{os.environ['PATH']}",
                "HOME": str(self.folder.parent),
                "PYTHONPATH": paths,
                **environment,
            },
            capture_output=True,
            text=True,
            check=False,
        )


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return Repository(tmp_path / "repository")


def read(name: str) -> dict[Any, Any]:
    found = yaml.safe_load((EXAMPLES / name).read_text())
    assert isinstance(found, dict)
    return found


def commands(text: str) -> list[str]:
    """Return the workflow commands of a job's output: none between a stop and its token."""
    found: list[str] = []
    token = None
    for line in text.splitlines():
        if token is not None:
            token = None if line == f"::{token}::" else token
        elif line.startswith("::stop-commands::"):
            token = line.removeprefix("::stop-commands::")
        elif line.lstrip().startswith("::"):
            found.append(line)
    assert token is None
    return found


@pytest.mark.parametrize("change", CHANGES)
def test_githubs_job_says_what_a_pull_request_costs(repository: Repository, change: str) -> None:
    workflow = read("gate.github.yml")
    steps = {step.get("name"): step for step in workflow["jobs"]["predicted"]["steps"]}
    line, status = CHANGES[change]
    head = repository.changed(line)
    summary = repository.folder.parent / "summary.md"
    environment = {
        **workflow["env"],
        "BASE": repository.base,
        "HEAD": head,
        "GITHUB_ACTIONS": "true",
        "GITHUB_STEP_SUMMARY": str(summary),
    }
    done = repository.bash(steps["Gate"]["run"], environment)
    assert done.returncode == status, done.stdout + done.stderr
    said = commands(done.stdout)
    if change == "broken":
        assert "rules.d/10.rules:3" in done.stderr
        assert said == []
        return
    assert ("failed" if status else "passed") in summary.read_text().splitlines()[0]
    (run,) = json.loads((repository.folder / "gate.sarif").read_text())["runs"]
    if change == "dir":
        assert said[0].startswith("::error file=rules.d/10.rules,line=3,")
        region = run["results"][0]["locations"][0]["physicalLocation"]["region"]
        assert region == {"startLine": 3}
    else:
        assert [one.partition(" ")[0] for one in said] == ["::notice"]
        assert run["results"] == []


def test_githubs_measured_job_runs_the_same_step_without_predicting() -> None:
    jobs = read("gate.github.yml")["jobs"]
    predicted, measured = (
        next(step for step in jobs[name]["steps"] if step.get("name") == "Gate")
        for name in ("predicted", "measured")
    )
    assert predicted["run"] == measured["run"]
    assert measured["env"]["HOW"] == ""
    first, second = (
        next(step for step in jobs[name]["steps"] if step.get("name") == "Install")
        for name in ("predicted", "measured")
    )
    assert first["run"] == second["run"]


def installation(name: str) -> str:
    """Return a job's steps that install hardcost, without those that install Debian's packages."""
    if name == "gate.github.yml":
        steps = read(name)["jobs"]["predicted"]["steps"]
        run: str = next(step for step in steps if step.get("name") == "Install")["run"]
        return run
    lines = read(name)["hardcost"]["before_script"]
    kept = [line for line in lines if not line.startswith("apt-get ")]
    assert len(kept) == len(lines) - 2
    return "\n".join([*kept, 'echo "${PATH%%:*}" >> "$GITHUB_PATH"'])


WORKFLOWS = ["gate.github.yml", "gate.gitlab-ci.yml"]


@pytest.fixture
def job(repository: Repository) -> dict[str, str]:
    """What the installation finds in a job; no index can be reached from it."""
    scratch = repository.folder.parent / "scratch"
    scratch.mkdir()
    return {
        "TMPDIR": str(scratch),
        "PIP_NO_INDEX": "1",
        "GITHUB_PATH": str(scratch / "path"),
        "CI_PROJECT_DIR": str(repository.folder),
    }


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_job_installs_nothing_but_a_wheel_whose_sha256_was_given(
    repository: Repository, job: dict[str, str], name: str
) -> None:
    wheel, digest = installing.wheel(repository.folder)
    other = digest[:-1] + ("0" if digest[-1] != "0" else "1")
    variables = read(name).get("env") or read(name)["hardcost"]["variables"]
    assert (variables["HARDCOST_WHEEL"], variables["HARDCOST_SHA256"]) == ("", "")
    for given, sha256, why in (
        ("", "", "is no path or https:// address of a wheel"),
        ("hardcost", digest, "is no path or https:// address of a wheel"),
        ("hardcost==0.0", digest, "is no path or https:// address of a wheel"),
        (f"http://localhost/{wheel.name}", digest, "No such file"),
        (wheel.name, "", "HARDCOST_SHA256: is not set"),
        (wheel.name, other, "did NOT match"),
        (wheel.name, digest[:32], "no properly formatted"),
    ):
        words = {**job, "HARDCOST_WHEEL": given, "HARDCOST_SHA256": sha256}
        done = repository.bash(installation(name), words)
        assert done.returncode, (given, sha256)
        assert why in done.stderr
    assert not list(Path(job["TMPDIR"]).glob("*/venv"))
    if name == "gate.github.yml":
        return  # the next test installs by it
    words = {**job, "HARDCOST_WHEEL": wheel.name, "HARDCOST_SHA256": digest}
    done = repository.bash(installation(name), words)
    assert done.returncode == 0, done.stdout + done.stderr
    programs = Path(job["GITHUB_PATH"]).read_text().strip()
    assert subprocess.check_output([f"{programs}/hardcost"], text=True) == "installed\n"


def test_a_job_fetches_the_wheel_by_https(repository: Repository, job: dict[str, str]) -> None:
    folder = repository.folder.parent / "served"
    folder.mkdir()
    wheel, digest = installing.wheel(folder)
    authority = folder.parent / "authority.pem"
    with installing.served(folder, authority) as address:
        words = {
            **job,
            "HARDCOST_WHEEL": f"{address}/{wheel.name}",
            "HARDCOST_SHA256": digest,
            "CURL_CA_BUNDLE": str(authority),
        }
        done = repository.bash(installation("gate.github.yml"), words)
    assert done.returncode == 0, done.stdout + done.stderr
    programs = Path(job["GITHUB_PATH"]).read_text().strip()
    assert subprocess.check_output([f"{programs}/hardcost"], text=True) == "installed\n"


def test_a_hosts_installation_for_a_lab_refuses_another_wheel(
    repository: Repository, job: dict[str, str]
) -> None:
    page = (ROOT / "docs/scale.md").read_text()
    steps = page[page.index("wheel=PATH") : page.index("apt-get install")]
    wheel, digest = installing.wheel(repository.folder)
    for sha256, installed in (("HASH", False), ("0" * 64, False), (digest, True)):
        script = steps.replace("PATH", f"./{wheel.name}", 1).replace("HASH", sha256)
        done = repository.bash(script, job)
        assert (done.returncode == 0) == installed, done.stdout + done.stderr
        assert (repository.folder / "hardcost" / "bin" / "hardcost").exists() == installed


NAMED = re.compile(
    r"(?:pip3?|uv|conda|poetry)\b[^\n|]* (?:install|add|run) [^\n|]*(?<![\w./-])['\"]?hardcost"
    r"(?:\[\w+\])?(?:[=<>~!@]\S*)?['\"]?(?=[\s`.,;)]|$)"
    r"|(?:pipx|uvx)\b[^\n|]*(?<![\w./-])['\"]?hardcost\b(?!-)"
)


KNOWN = {
    "scripts/environment": "installs this folder, which is hardcost",
    "tests/test_workflows.py": "has the words that it looks for",
}


def test_nothing_in_the_tree_installs_a_package_by_our_name() -> None:
    assert NAMED.search("pip install 'hardcost[dask]'")
    assert NAMED.search("uv tool install hardcost==0.1.0")
    assert NAMED.search("pipx run hardcost doctor")
    assert not NAMED.search("pip install ./hardcost-0.1.0.whl")
    listed = subprocess.check_output(["git", "ls-files", "-z"], cwd=ROOT, text=True).split("\0")
    texts = [ROOT / name for name in listed if name and name not in KNOWN]
    found = []
    for path in texts:
        if path.is_file():
            lines = path.read_bytes().decode(errors="replace").splitlines()
            found += [f"{path}: {line}" for line in lines if NAMED.search(line)]
    assert not found


@pytest.mark.parametrize("name", WORKFLOWS)
def test_no_text_of_a_change_is_put_into_a_script(name: str) -> None:
    def scripts(value: object) -> list[str]:
        if isinstance(value, dict):
            own = [str(v) for k, v in value.items() if k in {"run", "script", "before_script"}]
            return own + [one for each in value.values() for one in scripts(each)]
        return [one for each in value for one in scripts(each)] if isinstance(value, list) else []

    assert scripts(read(name))
    assert not any("${{" in one for one in scripts(read(name)))


@pytest.mark.parametrize("change", CHANGES)
def test_gitlabs_job_says_what_a_merge_request_costs(repository: Repository, change: str) -> None:
    job = read("gate.gitlab-ci.yml")["hardcost"]
    line, status = CHANGES[change]
    head = repository.changed(line)
    environment = {
        **job["variables"],
        "CI_MERGE_REQUEST_DIFF_BASE_SHA": repository.base,
        "CI_COMMIT_SHA": head,
    }
    done = repository.bash("\n".join(job["script"]), environment)
    assert done.returncode == status, done.stdout + done.stderr
    report = repository.folder / job["artifacts"]["reports"]["codequality"]
    if change == "broken":
        assert not report.exists()
        return
    issues = json.loads(report.read_text())
    found = [(one["location"], one["severity"]) for one in issues]
    where = {"path": "rules.d/10.rules", "lines": {"begin": 3}}
    assert found == ([(where, "major")] if change == "dir" else [])
    assert (repository.folder / job["artifacts"]["reports"]["junit"]).exists()


def test_what_the_files_name_as_results_is_what_the_gate_writes() -> None:
    job = read("gate.gitlab-ci.yml")["hardcost"]
    script = "\n".join(job["script"])
    for file in job["artifacts"]["reports"].values():
        assert f"={file}" in script


@pytest.mark.parametrize(("service", "name"), [("github", WORKFLOWS[0]), ("gitlab", WORKFLOWS[1])])
def test_a_ready_job_is_written_and_nothing_overwritten(
    tmp_path: Path, service: str, name: str
) -> None:
    words = ["export", "workflow", service, "-o", str(tmp_path / "job.yml")]
    first, again = (CliRunner().invoke(hardcost, words) for _ in range(2))
    assert (first.exit_code, (tmp_path / "job.yml").read_text()) == (
        0,
        (EXAMPLES / name).read_text(),
    )
    assert "HARDCOST_SHA256" in first.stderr
    assert isinstance(again.exception, InputError)

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from hardcost.errors import InputError
from hardcost.host import git_revision

RULE = "-w /etc/passwd -p wa -k id\n"


class Repository:
    """A git repository in a folder."""

    def __init__(self, top: Path) -> None:
        self.top = top
        top.mkdir()
        self.git("init", "-q", "-b", "main")

    def git(self, *words: str) -> str:
        who = ["-c", "user.name=A", "-c", "user.email=a@b.c", "-c", "commit.gpgsign=false"]
        argv = ["git", *who, *words]
        return subprocess.run(argv, cwd=self.top, check=True, capture_output=True, text=True).stdout

    def commit(self, **files: str) -> str:
        for name, text in files.items():
            path = self.top / name.replace("__", "/")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return self.commit_all()

    def commit_all(self) -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "x")
        return self.git("rev-parse", "HEAD").strip()


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    made = Repository(tmp_path / "repo")
    monkeypatch.chdir(made.top)
    return made


def test_two_dots_name_two_commits_and_three_where_they_part(repository: Repository) -> None:
    first = repository.commit(a="1")
    repository.git("branch", "topic")
    second = repository.commit(a="2")
    repository.git("switch", "-q", "topic")
    third = repository.commit(a="3")
    two = git_revision.revisions("main..topic", repository.top)
    assert (two.base_commit, two.head_commit) == (second, third)
    three = git_revision.revisions("main...topic", repository.top)
    assert (three.base_commit, three.head_commit) == (first, third)
    open_ended = git_revision.revisions("main..", repository.top)
    assert open_ended.head_commit == third
    until_now = git_revision.revisions("main", repository.top)
    assert until_now.head_commit is None


@pytest.mark.parametrize(
    "revision",
    ["-h..HEAD", "--output=x..HEAD", "nosuch..HEAD", "", "HEAD..nosuch", "a\nb..HEAD", "--all"],
)
def test_what_is_no_commit_is_refused_and_never_an_option(
    repository: Repository, revision: str
) -> None:
    repository.commit(a="1")
    with pytest.raises(InputError, match="names no commit"):
        git_revision.revisions(revision, repository.top)
    assert sorted(one.name for one in repository.top.iterdir()) == [".git", "a"]


@pytest.mark.parametrize("name", ["-o", "--help", "*", ":(glob)x", "a b", "it's", "a\nb", "é"])
def test_a_file_of_any_name_is_copied_as_it_is_in_the_commit(
    repository: Repository, tmp_path: Path, name: str
) -> None:
    (repository.top / "other").write_text("other")
    (repository.top / name).write_bytes(b"\xff\r\n" + RULE.encode())
    commit = repository.commit_all()
    (repository.top / name).write_text("changed since")
    into = tmp_path / "into"
    into.mkdir()
    found = git_revision.copy_from_commit(repository.top, commit, name, into)
    assert found.read_bytes() == b"\xff\r\n" + RULE.encode()
    assert [one.name for one in into.iterdir()] == [name]


def test_a_folder_is_copied_with_what_lies_below(repository: Repository, tmp_path: Path) -> None:
    commit = repository.commit(rules__a="1", rules__sub__b="2", other="3")
    found = git_revision.copy_from_commit(repository.top, commit, "rules", tmp_path)
    assert {str(p.relative_to(found)) for p in found.rglob("*") if p.is_file()} == {"a", "sub/b"}


def test_beside_a_toml_file_lie_the_files_that_it_names(
    repository: Repository, tmp_path: Path
) -> None:
    (repository.top / "p.toml").write_text('audit.files = ["x.rules"]\n')
    (repository.top / "x.rules").write_text(RULE)
    found = git_revision.copy_from_commit(
        repository.top, repository.commit_all(), "p.toml", tmp_path
    )
    assert (found.parent / "x.rules").read_text() == RULE


def test_the_whole_work_tree_is_copied(repository: Repository, tmp_path: Path) -> None:
    commit = repository.commit(**{"a.rules": RULE, "sub__b.rules": RULE})
    into = tmp_path / "into"
    into.mkdir()
    place = git_revision.copy_from_commit(repository.top, commit, ".", into)
    assert place.parent == into
    assert sorted(path.name for path in place.rglob("*.rules")) == ["a.rules", "b.rules"]


@pytest.mark.parametrize("name", ["x.rules", "."])
def test_what_the_repository_has_lost_is_said(
    repository: Repository, tmp_path: Path, name: str
) -> None:
    commit = repository.commit(**{"x.rules": RULE})
    blob = repository.git("rev-parse", "HEAD:x.rules").strip()
    (repository.top / ".git/objects" / blob[:2] / blob[2:]).unlink()
    into = tmp_path / "into"
    into.mkdir()
    with pytest.raises(InputError, match=r"lacks the content of x\.rules"):
        git_revision.copy_from_commit(repository.top, commit, name, into)


def test_a_link_among_rules_is_refused_and_another_is_not_followed(
    repository: Repository, tmp_path: Path
) -> None:
    (repository.top / "rules").mkdir()
    (repository.top / "rules" / "note").symlink_to("/etc/passwd")
    commit = repository.commit_all()
    found = git_revision.copy_from_commit(repository.top, commit, "rules", tmp_path)
    assert list(found.iterdir()) == []
    (repository.top / "rules" / "x.rules").symlink_to("/etc/passwd")
    commit = repository.commit_all()
    into = tmp_path / "again"
    into.mkdir()
    with pytest.raises(InputError, match="symbolic link"):
        git_revision.copy_from_commit(repository.top, commit, "rules", into)


def test_a_name_is_the_repositorys_from_any_folder_of_it(
    repository: Repository, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (repository.top / "sub").mkdir()
    monkeypatch.chdir(repository.top / "sub")
    assert git_revision.name_in(repository.top, tmp_path.__class__("../rules.d/")) == "rules.d"
    assert git_revision.name_in(repository.top, repository.top / "x") == "x"
    with pytest.raises(InputError, match="is not in the repository"):
        git_revision.name_in(repository.top, tmp_path / "elsewhere")


def test_what_is_not_in_a_commit_is_an_error(repository: Repository, tmp_path: Path) -> None:
    commit = repository.commit(a="1")
    with pytest.raises(InputError, match="there is no b at"):
        git_revision.copy_from_commit(repository.top, commit, "b", tmp_path)


def test_outside_of_a_repository_git_says_so(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not a git repository"):
        git_revision.revisions("main..HEAD", tmp_path)

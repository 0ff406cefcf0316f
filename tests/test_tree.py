"""The shape of the tree: a source file's name says which file is meant."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "bench", "conformance")
MAY_REPEAT = {
    "__init__.py": "Python's own name; holds no code",
    "names.py": "finds a folder's things by name: machines, instruments, workloads",
}
"""Names that several files may have, each with why; a verb's files are in `places_of_a_verb`."""


def places_of_a_verb(name: str) -> set[str]:
    """Return where files of one name mean one verb: its options, its code, and what it calls."""
    verb = name.removesuffix(".py")
    return {
        f"src/hardcost/cli/commands/{name}",
        f"src/hardcost/cli/{name}",
        f"src/hardcost/cli/rules/{name}",
        f"src/hardcost/auditrules/{verb}/{name}",
    }


def repeated(paths: list[str]) -> dict[str, list[str]]:
    """Return the names that mean different things, each with its files."""
    files = defaultdict(list)
    for path in paths:
        files[Path(path).name].append(path)
    return {
        name: found
        for name, found in files.items()
        if len(found) > 1 and name not in MAY_REPEAT and not set(found) <= places_of_a_verb(name)
    }


def test_no_two_source_files_of_one_name_mean_different_things() -> None:
    files = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py")]
    assert len(files) > 300
    assert repeated(sorted(str(path.relative_to(ROOT)) for path in files)) == {}


def test_a_name_may_repeat_only_for_one_verb() -> None:
    verb = ["src/hardcost/cli/image.py", "src/hardcost/cli/commands/image.py"]
    other = "src/hardcost/machines/images/image.py"
    assert repeated(verb) == {}
    assert repeated([*verb, other]) == {"image.py": [*verb, other]}

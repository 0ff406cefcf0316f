"""Help and completion import nothing of what the verbs work with, and offer the names there are."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from auditrules.cli.options import NamedPath
from auditrules.cli.prove import RELEASES, SECONDS
from auditrules.prove import prove
from auditrules.tables import lookup
from hardcost.cli.command import hardcost
from hardcost.cli.input import completion
from hardcost.cli.verbs.rules import CPU
from hardcost.library.rules.cost import DEFAULT_CPU
from hardcost.measure.execute import USUAL_LIMITS
from hardcost.profiles import catalogue
from hardcost.store.store import Store
from hardcost.study.read import study_names

HEAVY = {
    *("altair", "asyncio", "jinja2", "lxml", "numpy", "pydantic", "qemu", "rich", "scipy"),
    *("dask", "distributed", "vl_convert", "z3", "zstandard"),
    *("hardcost.supply.cache.cache", "auditrules.model.rule"),
}
IMPORTED = """
import json, sys
from hardcost.cli.main import main
sys.argv = ["hardcost", *json.loads(sys.argv[1])]
try:
    main()
finally:
    sys.stderr.write("\\n" + json.dumps(sorted(sys.modules)))
"""


def commands(
    command: click.Command = hardcost, path: tuple[str, ...] = ()
) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    """Yield every command with its words, groups before what they hold."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            assert below is not None
            yield from commands(below, (*path, name))


PATHS = [path for path, _ in commands()]
WORKING = [(path, command) for path, command in commands() if not isinstance(command, click.Group)]


def imported_by(*words: str, **environment: str) -> tuple[str, set[str]]:
    """Return what a command prints, and the modules that it has imported at its end."""
    done = subprocess.run(
        [sys.executable, "-c", IMPORTED, json.dumps(words)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout, set(json.loads(done.stderr.splitlines()[-1]))


@pytest.mark.parametrize(
    "words",
    [("--help",), ("--version",), *((*path, "--help") for path in PATHS if path)],
    ids=" ".join,
)
def test_help_imports_nothing_of_what_the_verbs_work_with(words: tuple[str, ...]) -> None:
    said, modules = imported_by(*words)
    assert said
    assert not modules & HEAVY


@pytest.mark.parametrize(
    ("what", "unneeded"),
    [
        ("init_on_alloc=1", {"auditrules.model.rule"}),
        ("RHEL-09-213025", {"auditrules.model.rule"}),
        ("RHEL-09-231110", {"hardcost.mechanisms.audit"}),
        ("RHEL-09-654020", {"hardcost.mechanisms.mount"}),
        ("-w /etc/shadow -p wa", {"hardcost.mechanisms.mount"}),
    ],
)
def test_a_price_imports_nothing_of_guests_tables_and_profiles(
    what: str, unneeded: set[str]
) -> None:
    said, modules = imported_by("price", what)
    assert said
    never = {"rich.console", "lxml", "hardcost.protocol.requests", "hardcost.protocol.answers"}
    assert not modules & (never | unneeded | {"hardcost.profiles.catalogue"})


def test_an_empty_name_is_no_file_and_no_folder() -> None:
    """Else it would be the current folder."""
    found = [one for _, command in WORKING for one in command.params]
    paths = [one.type for one in found if isinstance(one.type, click.Path)]
    assert paths
    assert all(isinstance(one, NamedPath) for one in paths)
    ended = CliRunner().invoke(hardcost, ["pricelist", "site", "-o", ""])
    assert (ended.exit_code, "the name is empty" in ended.output) == (2, True)


def test_charts_are_imported_only_for_a_page_and_dask_only_for_workers(tmp_path: Path) -> None:
    words = ("bill", "--boot", "init_on_alloc=1", "--machine", "fake")
    own = {"HARDCOST_STORE": str(tmp_path / "store")}
    _, planning = imported_by(*words, "--dry-run", **own)
    _, measuring = imported_by(*words, **own)
    assert "altair" in measuring - planning
    assert "scipy.stats" not in measuring
    assert find_spec("distributed") is not None
    assert not measuring & {"dask", "distributed"}


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("hardcost ", {"run", "bill", "rules"}),
        ("hardcost kernel ", {"build", "list"}),
        ("hardcost run --work", {"--workload"}),
        ("hardcost bill ksp", {"kspp", "kspp-self-protection"}),
        ("hardcost run k", {"kconfig"}),
        ("hardcost run kconfig --workload build,sys", {"build,syscalls"}),
        ("hardcost run kconfig --record cpu,a", {"cpu,audit", "cpu,avc"}),
        ("hardcost report ", {"last", "mine-1"}),
        ("hardcost bill x --kernel ", {"host"}),
        ("hardcost rules prove a b --release 7", {"7.2", "7.3"}),
        ("hardcost list run", {"runs"}),
        ("hardcost image remove 12", {"123abc"}),
    ],
)
def test_tab_offers_what_may_follow_and_imports_as_little(
    tmp_path: Path, words: str, offered: set[str]
) -> None:
    with Store(tmp_path / "store") as store:
        store.start("mine-1", "plan", "mine", fresh=False)
    kernel = tmp_path / "cache" / "kernels" / "123abc"
    kernel.mkdir(parents=True)
    (kernel / "title").write_text("Linux\n")
    said, modules = imported_by(
        _HARDCOST_COMPLETE="bash_complete",
        COMP_WORDS=words,
        COMP_CWORD=str(words.count(" ")),
        HARDCOST_STORE=str(tmp_path / "store"),
        HARDCOST_CACHE=str(tmp_path / "cache"),
    )
    assert offered <= {line.partition(",")[2] for line in said.splitlines()}
    assert not modules & HEAVY


@pytest.mark.parametrize("store", ["missing", "damaged"])
def test_tab_is_silent_about_a_store_that_cant_be_read(tmp_path: Path, store: str) -> None:
    (tmp_path / "damaged").write_text("this is no database, and was never one" * 100)
    said, _ = imported_by(
        _HARDCOST_COMPLETE="bash_complete",
        COMP_WORDS="hardcost report ",
        COMP_CWORD="2",
        HARDCOST_STORE=str(tmp_path / store),
    )
    assert said.split() in ([], ["plain,last"])
    assert not (tmp_path / "missing").exists()


def test_names_that_the_command_line_holds_are_those_that_there_are() -> None:
    word = click.Argument(["x"])
    context = click.Context(hardcost)
    offered = {item.value for item in completion.profiles(context, word, "")}
    assert offered == {"", *catalogue.names()}
    offered = {item.value for item in completion.studies(context, word, "")}
    assert offered == {"", *study_names()}
    assert prove.DEFAULT_SECONDS == SECONDS
    assert lookup.RELEASES == RELEASES
    assert RELEASES[0] == lookup.OLDEST
    assert CPU == DEFAULT_CPU
    small, debian = (f"{USUAL_LIMITS[guest]:.0f}" for guest in ("small", "debian"))
    run = hardcost.get_command(context, "run")
    assert run is not None
    timeout = next(
        str(one.help)
        for one in run.params
        if isinstance(one, click.Option) and one.name == "timeout"
    )
    assert f"else {small}, in a Debian guest {debian})" in timeout


@pytest.mark.parametrize("path", [path for path in PATHS if path], ids=" ".join)
def test_every_verb_has_an_example_in_its_help(path: tuple[str, ...]) -> None:
    done = CliRunner().invoke(hardcost, [*path, "--help"])
    assert done.exit_code == 0
    assert "Example" in done.output
    assert f"hardcost {path[0]}" in done.output.partition("Example")[2]


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        (["bil"], "`hardcost bill`?"),
        (["rules", "lnt"], "`hardcost rules lint`?"),
        (["kernel", "bild"], "`hardcost kernel build`?"),
        (["image", "lst"], "`hardcost image list`?"),
        (["import", "scp"], "`hardcost import scap`?"),
        (["lint", "my.rules"], "`hardcost rules lint`?"),
        (["optimize"], "`hardcost rules optimize`?"),
        (["explain"], "`hardcost rules explain`?"),
        (["prove", "a", "b"], "`hardcost rules prove`?"),
        (["rules", "bill"], "`hardcost bill`?"),
        (["controls"], "`hardcost list controls`?"),
        (["check"], "`hardcost kernel check` or `hardcost runs check`?"),
        (["delete"], "`hardcost image remove` or `hardcost runs remove`?"),
        (["bill", "x", "--budgt", "5%"], "one of: '--boot', '--budget'?"),
    ],
)
def test_what_is_misspelt_is_proposed(words: list[str], meant: str) -> None:
    done = CliRunner().invoke(hardcost, words)
    assert done.exit_code == 2
    said = done.output.lower()
    assert f"did you mean {meant}" in said


def help_of(path: tuple[str, ...], *words: str, width: int = 100) -> str:
    done = CliRunner().invoke(hardcost, [*path, *words], terminal_width=width)
    assert done.exit_code == 0
    return done.output


@pytest.mark.parametrize("width", [60, 80, 100])
def test_no_summary_in_a_help_is_cut(width: int) -> None:
    for path, command in commands():
        said = help_of(path, "--help", width=width)
        assert "..." not in said.partition("Commands:")[2]
        if isinstance(command, click.Group):
            words = "".join(said.split())
            for below, one in commands(command):
                if len(below) == 1:
                    assert one.get_short_help_str().endswith(".")
                    assert "".join(f"{below[0]} {one.get_short_help_str()}".split()) in words


MEASURING = [path for path, command in WORKING if any(one.name == "jobs" for one in command.params)]


@pytest.mark.parametrize("path", MEASURING, ids=" ".join)
def test_the_options_of_clusters_are_in_the_whole_help_alone(path: tuple[str, ...]) -> None:
    usual, whole = help_of(path, "--help"), help_of(path, "--help-all")
    rest = {"--workers ADDRESS", "--tls-ca FILE", "--tls-cert FILE", "--tls-key FILE"}
    assert not [one for one in rest if one in usual]
    assert not [one for one in rest if one not in whole]
    assert "--help-all" in usual


@pytest.mark.parametrize(
    "path", [path for path in MEASURING if path != ("kernel", "build")], ids=" ".join
)
def test_what_verbs_share_is_grouped_behind_their_own_options(path: tuple[str, ...]) -> None:
    said = help_of(path, "--help-all")
    titles = [line for line in said.splitlines() if line.endswith(":") and line[0] != " "]
    assert titles[0] == "Options:"
    assert {"What is measured, and where:", "How trials run:", "Results and progress:"} < {*titles}
    assert titles[-2:] == ["Cluster and TLS options:", "Help:"]
    own = said.partition("Options:")[2].partition("\n\n")[0]
    assert "\n  --store " not in own
    assert "\n  --kernel " not in own


def test_no_help_has_the_words_of_a_program_for_a_number() -> None:
    for path, _ in WORKING:
        said = help_of(path, "--help")
        assert not [one for one in ("INTEGER", "FLOAT", "<=x", "x>=", "TEXT") if one in said], path

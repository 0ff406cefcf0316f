"""The real keeper, in namespaces: what it undoes once, what it leaves, what it never follows."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from bench.robustness import keeper_orders
from hardcost.host.process import run
from hardcost.supply.images import user_namespace

ROOT = Path(__file__).parents[3]
ALIVE = "/proc/sys/net/ipv4/tcp_keepalive_time"
BEGIN = f"""
from pathlib import Path
from bench.robustness import keeper_world as world
world.made(None)
def held(user, wanted):
    holder = world.Holder(user, wanted)
    assert holder.is_held(), world.said()
    return holder
def restored(user, **words):
    return world.waited(world.restoring(user, **words))
alive = Path("{ALIVE}")
before = world.observe()
"""
FINISHED = """
ann = held("ann", {str(alive): "1001"})
kept = world.book("ann").read_bytes()
assert ann.finish() == 0
assert held("bob", {str(world.FILES[0]): "run of bob"}).finish() == 0
world.book("ann").write_bytes(kept)  # as where hardcost was killed before it heard of the end
"""
DIRECTLY = """
import base64, json, subprocess
from hardcost.supply.programs import program_path
KEEPER = str(program_path("hardcost-keeper"))
def direct(*words, given):
    return subprocess.run([KEEPER, *words], input=given, capture_output=True)
"""


def in_namespaces(script: str) -> None:
    """Run a program in namespaces of its own, in a world with a keeper; it has to succeed."""
    words = [*keeper_orders.OWN, sys.executable, "-c", BEGIN + script]
    run(user_namespace.as_root(words), folder=ROOT)


@pytest.mark.parametrize("value", ["5000", "1001"])
def test_a_finished_run_is_not_undone_again_though_another_has_finished_since(value: str) -> None:
    """The second is what the run itself had written: it was made permanent."""
    in_namespaces(f"""{FINISHED}
alive.write_text("{value}")
assert restored("ann") == 0, world.said()
assert "nothing to undo" in world.said()
assert alive.read_text().strip() == "{value}"
assert not world.book("ann").exists()
""")


def test_even_by_force_a_finished_run_is_not_undone_again() -> None:
    in_namespaces(f"""{FINISHED}
alive.write_text("1001")
assert restored("ann", force=True) == 0
assert alive.read_text().strip() == "1001"
""")


def test_a_users_file_beside_a_changed_one_is_neither_removed_nor_followed() -> None:
    """Some are links to a file of root's alone, by the name that a keeper once wrote to."""
    in_namespaces("""
bystanders = world.bystanders()
names = {str(path): "run" for path in world.FILES[:4]}
holder = held("ann", names)
assert world.bystanders() == bystanders
assert holder.finish() == 0
assert (world.bystanders(), world.observe()) == (bystanders, before)
holder = held("ann", names)
world.kill("both", 0)
assert restored("ann") == 0, world.said()
assert (world.bystanders(), world.observe()) == (bystanders, before)
""")


def test_a_link_in_the_place_of_a_folder_is_refused_before_and_left_after_the_change() -> None:
    in_namespaces("""
name = str(world.OWNED)
holder = held("ann", {name: "run"})
world.link()
bystanders = world.bystanders()
assert holder.finish() == 3
assert "symbolic link" in world.said()
assert world.bystanders() == bystanders
assert restored("ann") == 1
refused = world.Holder("ann", {name: "run"})
assert not refused.is_held()
assert "is a symbolic link that others than root can place" in world.said(), world.said()
assert world.bystanders() == bystanders
""")


def test_what_somebody_else_changed_is_left_with_status_1_until_it_is_forced() -> None:
    in_namespaces("""
holder = held("ann", {str(alive): "1001", str(world.FILES[0]): "run"})
alive.write_text("5000")
assert holder.finish() == 3
assert f"others changed {alive} since" in world.said()
assert restored("bob") == 1
said = world.said()
assert 'is "5000", hardcost had written "1001", and it was "7200" before' in said, said
assert world.observe() == before | {str(alive): "5000"}
alive.write_text("1001")  # theirs, though it is what ours was
assert restored("ann") == 1
assert alive.read_text() == "1001\\n"
assert restored("ann", force=True) == 0
assert world.observe() == before
assert restored("ann") == 0
assert not world.leftovers()
""")


def test_a_machine_that_lost_its_record_undoes_a_run_only_if_it_is_told_to() -> None:
    in_namespaces("""
import shutil
held("ann", {str(alive): "1001", str(world.FILES[0]): "run"})
world.kill("both", 0)
shutil.rmtree(world.DESK)
alive.write_text("5000")
changed = world.observe()
assert restored("ann") == 3
assert "has no record of the run" in world.said()
assert world.observe() == changed
assert restored("ann", force=True) == 1  # what others changed is left all the same
assert world.observe() == before | {str(alive): "5000"}
""")


@pytest.mark.parametrize(
    ("path", "ours", "theirs"), [("/srv/t/a.conf", "run", "admin"), (ALIVE, "1001", "5000")]
)
def test_what_somebody_else_changes_before_all_is_held_is_left(
    path: str, ours: str, theirs: str
) -> None:
    """Many files follow the change, so that there is time to change it by hand before that."""
    in_namespaces(f"""{DIRECTLY}
def install(path):
    return {{"do": "install", "path": path, "base64": base64.b64encode(b"run").decode()}}
path = Path("{path}")
write = {{"do": "write", "path": str(path), "value": "{ours}"}}
changes = [write if path == alive else install(str(path))]
changes += [install(f"/srv/t/z{{number}}") for number in range(2000)]
order = {{"run": "r", "limit": 60, "people": True, "changes": changes}}
keeper = subprocess.Popen(
    [KEEPER, "hold"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
)
def send(line):
    keeper.stdin.write(line + "\\n")
    keeper.stdin.flush()
def wait(words):
    line = next(line for line in keeper.stdout if words in line or '"released"' in line)
    assert words in line, line
    return json.loads(line)
send(json.dumps(order))
wait('"planned"')
send("go")
wait('"made')
path.write_text("{theirs}")
wait('"held"')
send("undo")
released = wait('"released"')
assert len(released["left"]) == 1 and str(path) in released["left"][0], released
assert (keeper.wait(), path.read_text().strip()) == (1, "{theirs}")
assert not list(Path("/srv/t").glob("z*"))
""")


def test_a_finished_run_is_not_undone_as_the_journal_of_a_boot() -> None:
    in_namespaces(f"""{FINISHED}{DIRECTLY}
alive.write_text("1001")
for words in ([], ["--force"]):
    done = direct("restore", "--people", "--booted", *words, given=kept)
    assert (done.returncode, alive.read_text().strip()) == (1, "1001"), done
    assert b"is no journal of a boot" in done.stdout, done
assert direct("restore", "--people", given=kept).returncode == 0
assert alive.read_text().strip() == "1001"
""")


def test_a_journal_is_not_taken_over_while_users_are_logged_in() -> None:
    """Otherwise force would be used the next time on a change by others that was never reported."""
    in_namespaces(f"""{DIRECTLY}
import shutil
held("ann", {{str(alive): "1001"}})
kept = world.book("ann").read_bytes()
world.kill("both", 0)
shutil.rmtree(world.DESK)
alive.write_text("5000")
subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
session = Path("/run/systemd/sessions/1")
session.parent.mkdir(parents=True)
session.write_text("USER=eve\\nCLASS=user\\nTTY=pts/0\\n")
done = direct("restore", "--force", given=kept)
assert done.returncode == 1 and b"users are logged in there: eve" in done.stdout, done
done = direct("restore", "--force", "--people", given=kept)
assert b"others changed" in done.stdout, done
assert alive.read_text().strip() == "5000"
""")


@pytest.mark.parametrize("number", range(1, 6))
def test_in_a_random_order_nothing_is_lost_or_believed_and_no_link_is_followed(number: int) -> None:
    """`bench/robustness/keeper_orders.py` has many more."""
    assert not keeper_orders.take(number, seed=2)

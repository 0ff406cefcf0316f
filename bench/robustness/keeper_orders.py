"""Whether the keeper loses a change, trusts an old journal or follows a link, in random orders.

    .venv/bin/python -m bench.robustness.keeper_orders --orders 1-100

Each order happens in mount, process, network and IPC namespaces of its own, to files, settings and
a mount that are only there. Two users of the machine `host` have things changed and undone by the
real keeper. Meanwhile others change things by hand, or make a change permanent; processes are
killed at random moments; the power goes; a user puts a link in the way; a user brings a journal
that was finished long ago, or the machine loses its own. A model says what everything has to be
after each step, and with which status `hardcost restore` ends. What takes a kernel of its own
(audit, SELinux, units, boots) is interrupted in guests, by
`bench/robustness/interrupted_changes.py`.
"""

from __future__ import annotations

import argparse
import random
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path

from bench.robustness import keeper_world
from hardcost.host.process import output
from hardcost.machines.real import journal
from hardcost.supply.images import user_namespace

STEPS = 14
"""How many steps an order has."""

KINDS: tuple[keeper_world.Who, ...] = ("hardcost", "keeper", "both", "all")
_ROOT = Path(__file__).parents[2]
OWN = ("unshare", "--net", "--ipc", "--")
"""What gives a program a network and an IPC namespace, whose settings are its own."""


class WrongError(Exception):
    """Something is not as the model has it."""


@dataclass
class Run:
    """A run: by whom, what everything was before, and once it is known, what it made of things.

    `holder` is None once it is dead, and the run is not undone by itself. `certain`: all was made.
    """

    user: str
    before: dict[str, str]
    folders: set[Path]
    holder: keeper_world.Holder | None
    wrote: dict[str, str] = field(default_factory=dict)
    touched: set[str] = field(default_factory=set)
    certain: bool = False


@dataclass
class Order:
    """One order of steps; `now` is what everything has to be.

    `left` is what things were before others changed them, until another run begins;
    `unsaid` are folders that are left, too, since no journal says that they were made.
    """

    draw: random.Random
    now: dict[str, str]
    bystanders: list[str]
    run: Run | None = None
    left: dict[str, str] = field(default_factory=dict)
    unsaid: set[Path] = field(default_factory=set)
    kept: dict[str, str] = field(default_factory=dict)
    earlier: journal.Journal | None = None
    stale: list[tuple[int, str, bytes]] = field(default_factory=list)
    permanent: dict[str, str] = field(default_factory=dict)
    linked: bool = False
    era: int = 0
    number: int = 0
    steps: list[str] = field(default_factory=list)

    def go(self) -> None:
        """Take all steps, look at everything after each, and have everything end."""
        for _ in range(STEPS):
            self.take(self.draw.choice(self.possible()))
        if self.linked:
            self.take("unlink")
        if self.run is not None:
            self.take("finish" if self.run.holder else "restore")
        for user in keeper_world.USERS:
            self.restored(user, self._known())
        self.look()
        if self._known() == {0} and keeper_world.leftovers():
            raise WrongError(f"left lying about: {keeper_world.leftovers()}")

    def take(self, step: str) -> None:
        """Take a step, and look."""
        self.steps.append(step)
        self.number += 1
        getattr(self, f"_{step}")()
        self.look()

    def look(self) -> None:
        """Compare everything with the model.

        Raises:
            WrongError: It is something else.
        """
        found = keeper_world.observe()
        wrong = [f"{n} is {found[n]}, not {it}" for n, it in self.now.items() if found[n] != it]
        if keeper_world.bystanders() != self.bystanders:
            wrong.append(f"a bystander was harmed: {keeper_world.bystanders()}")
        if wrong:
            raise WrongError("; ".join(wrong))

    def possible(self) -> list[str]:
        """Return the steps that can be taken now, the likelier ones more than once."""
        link = "unlink" if self.linked else "link"
        if self.run is None:
            steps = ["begin"] * 4 + ["begin_killed"] * 4 + ["by_hand", "nothing", link]
            steps += ["stale"] * 3 * bool(self.stale)
            steps += ["permanent"] * 3 * bool(self.permanent)
            return steps + ["force"] * 2 * bool(self.left and not self.linked)
        if self.run.holder:
            return ["by_hand"] * 3 + ["finish"] * 3 + ["killed"] * 3 + ["power", link]
        steps = ["by_hand"] * 2 + ["restore", "next", "lost", "power", link]
        return steps if self.linked else [*steps, "restore_killed"]

    def after_undoing(self) -> dict[str, str]:
        """Return what everything is to be once the run is undone."""
        run, now = self._open(), keeper_world.observe()
        wrote = run.wrote or now
        undone = {
            name: run.before[name] if it in {run.before[name], wrote[name]} else it
            for name, it in now.items()
        }
        if self.linked and str(keeper_world.OWNED) in run.touched:
            undone[str(keeper_world.OWNED)] = now[
                str(keeper_world.OWNED)
            ]  # through the link it can't be seen
        return undone

    def restored(self, user: str, statuses: set[int], *, force: bool = False) -> int:
        """Have a user restore the machine, and return the status.

        Raises:
            WrongError: It ends with another status.
        """
        status = keeper_world.waited(keeper_world.restoring(user, force=force))
        if status not in statuses:
            raise WrongError(f"restore ended with {status}, not {statuses}: {keeper_world.said()}")
        return status

    def _open(self) -> Run:
        if self.run is None:
            raise WrongError("no run is open")
        return self.run

    def _holder(self) -> keeper_world.Holder:
        holder = self._open().holder
        if holder is None:
            raise WrongError("no process holds the run")
        return holder

    def _settled(self, undone: dict[str, str]) -> None:
        """Note that the run is undone, but for what others have changed.

        Raises:
            WrongError: The journal does not name just that.
        """
        run, found = self._open(), keeper_world.open_journal()
        theirs = {name for name, it in undone.items() if it != run.before[name]}
        theirs &= run.touched
        left = keeper_world.left(found) if found else set()
        known = {name for name in left if name in undone}
        owned = {str(keeper_world.OWNED)} if self.linked else set()
        if not known <= theirs | owned or (run.certain and not theirs <= known):
            raise WrongError(f"left are {left}, but others have changed {theirs}")
        stay = {folder for folder in keeper_world.folders() if any(folder.iterdir())} | self.unsaid
        if (
            not keeper_world.folders() <= run.folders | stay
            or not run.folders <= keeper_world.folders()
        ):
            raise WrongError(f"folders are {keeper_world.folders()}, were {run.folders}")
        self.left = {name: run.before[name] for name in known}
        self.now, self.run = undone, None

    def _known(self) -> set[int]:
        """Return how a restoration ends that has nothing to undo: with 1 if something is left."""
        return {1} if self.left or self.unsaid else {0}

    def _unsaid(self) -> set[Path]:
        """Return folders of which only the machine knew that an interrupted run had made them."""
        lines = [
            one
            for one in keeper_world.said().splitlines()
            if "what the journal does not say" in one
        ]
        new = keeper_world.folders() - self._open().folders
        return {one for one in new if any(f" changed {one} since " in line for line in lines)}

    def _statuses(self, undone: dict[str, str]) -> set[int]:
        """Return how a restoration may end: with 1 if others have changed something."""
        run = self._open()
        theirs = [name for name in run.touched if undone[name] != run.before[name]]
        if self.linked and str(keeper_world.OWNED) in run.touched:
            return {0, 1}
        if not theirs:
            return {0}
        return {1} if run.certain else {0, 1}

    # What runs do.

    def _start(self) -> Run:
        wanted = keeper_world.wanted(self.draw, self.number, linked=self.linked)
        user = self.draw.choice(keeper_world.USERS)
        # Whoever begins closes the journal for `--force`.
        self.kept, self.left, self.unsaid = self.left, {}, set()
        self.earlier = keeper_world.open_journal()
        holder = keeper_world.Holder(user, wanted)
        self.run = Run(user, dict(self.now), keeper_world.folders(), holder)
        self.run.touched = keeper_world.touched([*wanted])
        return self.run

    def _begin(self) -> None:
        run = self._start()
        if not self._holder().is_held():
            raise WrongError(f"nothing is held: {keeper_world.said()}")
        run.wrote, run.certain = keeper_world.observe(), True
        for name, value in self._holder().wanted.items():
            if not keeper_world.is_value(name, value, run.wrote[name]):
                raise WrongError(f"{name} was to be {value!r}, is {run.wrote[name]}")
        self.now = {
            name: run.wrote[name] if name in run.touched else it for name, it in self.now.items()
        }
        self.stale.append((self.era, run.user, keeper_world.book(run.user).read_bytes()))

    def _begin_killed(self) -> None:
        self._start()
        keeper_world.wait_for_keeper(self._holder().process, self.draw.uniform(0.0, 0.08))
        self._killed()

    def _killed(self) -> None:
        run, holder = self._open(), self._holder()
        # What is undone by itself is undone from what is there now; or nothing was held yet.
        undone = self.after_undoing() if run.wrote else dict(run.before)
        kind = self.draw.choice(KINDS)
        self.steps[-1] += f" ({kind})"
        keeper_world.kill(kind, holder.process)
        holder.close()
        keeper_world.kill("both", 0)  # hardcost may have begun to restore it
        run.holder, found = None, keeper_world.open_journal()
        if found and self.earlier and found.entries[0] == self.earlier.entries[0]:
            self.left, self.run = self.kept, None  # it had not even begun
            return
        unsettled = [one.name for _, one in found.pending] if found else []
        if found is None or set(unsettled) <= keeper_world.left(found):
            self._settled(undone)
            return
        now = keeper_world.observe()
        if not run.wrote:
            run.wrote = now
            for name, value in holder.wanted.items():
                if now[name] != run.before[name] and not keeper_world.is_value(
                    name, value, now[name]
                ):
                    raise WrongError(f"{name} was {run.before[name]}, to be {value!r}: {now[name]}")
        self.now = {name: now[name] if name in run.touched else it for name, it in self.now.items()}

    def _finish(self) -> None:
        holder = self._holder()
        undone = self.after_undoing()
        statuses = {3 * one for one in self._statuses(undone)}  # a trial that was disturbed
        status = holder.finish()
        if status not in statuses:
            raise WrongError(f"the run ended with {status}, not {statuses}: {keeper_world.said()}")
        self.permanent = dict(holder.wanted)
        holder.close()
        self._settled(undone)

    # What restores.

    def _restore(self) -> None:
        undone = self.after_undoing()
        self.restored(self.draw.choice(keeper_world.USERS), self._statuses(undone))
        self._settled(undone)

    def _restore_killed(self) -> None:
        undone = self.after_undoing()
        process = keeper_world.restoring(self.draw.choice(keeper_world.USERS))
        keeper_world.wait_for_keeper(process, self.draw.uniform(0.0, 0.03))
        keeper_world.kill("all", process)
        keeper_world.waited(process)
        found = keeper_world.open_journal()
        pending = {one.name for _, one in found.pending} if found else set()
        if found is None or pending <= keeper_world.left(found):
            self._settled(undone)
        else:
            self.now = keeper_world.observe()
            wrong = [
                n for n, it in self.now.items() if it not in {undone[n], self._open().wrote[n]}
            ]
            if wrong:
                raise WrongError(f"neither what they were nor what they are to be: {wrong}")

    def _next(self) -> None:
        """Have another run begin, which undoes first what was left."""
        folders = self._open().folders
        self.now, self.run = self.after_undoing(), None
        self._begin()
        self._open().folders = folders

    def _nothing(self) -> None:
        self.restored(self.draw.choice(keeper_world.USERS), self._known())

    def _stale(self) -> None:
        """Bring a journal that was finished long ago."""
        era, user, content = self.draw.choice(self.stale)
        path = keeper_world.book(user)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        known = self._known()
        self.restored(user, known if era == self.era else known | {3})
        path.unlink(missing_ok=True)

    def _force(self) -> None:
        self.restored(self.draw.choice(keeper_world.USERS), {0}, force=True)
        self.now |= self.left
        self.left.clear()
        self.unsaid.clear()

    def _lost(self) -> None:
        """Have the machine lose all that the keeper has there, and bring the user's journal."""
        run, undone = self._open(), self.after_undoing()
        is_kept = keeper_world.is_kept(run.user)  # else it was killed before anything was begun
        shutil.rmtree(keeper_world.DESK)
        self.era += 1
        if is_kept:
            self.restored(run.user, {3})
            if "no record" not in keeper_world.said():
                raise WrongError(f"it does not say that it has no record: {keeper_world.said()}")
            self.look()
            known = self._statuses(undone)
            status = self.restored(run.user, known if run.certain else known | {1}, force=True)
            if not run.certain:
                self.unsaid = self._unsaid()
            if status not in known and not self.unsaid:
                raise WrongError(f"restore ended with {status}, not {known}: {keeper_world.said()}")
        for user in keeper_world.USERS:
            keeper_world.book(user).unlink(missing_ok=True)
        self._settled(undone)

    # What others do.

    def _by_hand(self) -> None:
        """Change one thing; where it is not sure what was begun, to what it never was."""
        unique = self.run is not None and not self.run.certain
        name = keeper_world.by_hand(self.draw, self.number, unique=unique)
        self.steps[-1] += f" ({name})"
        found, moved = (
            keeper_world.observe(),
            {one for all_of in keeper_world.MOVED.values() for one in all_of},
        )
        changed = {name} | (moved if name in moved else set())
        self.now = {one: found[one] if one in changed else it for one, it in self.now.items()}

    def _permanent(self) -> None:
        """Make permanent what a run has tried, and bring that run's journal again."""
        name = self.draw.choice(sorted(self.permanent))
        keeper_world.set_to(name, self.permanent[name])
        self.steps[-1] += f" ({name})"
        found = keeper_world.observe()
        changed = keeper_world.touched([name])
        self.now = {one: found[one] if one in changed else it for one, it in self.now.items()}
        if self.stale:
            self._stale()

    def _link(self) -> None:
        keeper_world.link()
        self.linked, self.bystanders = True, keeper_world.bystanders()

    def _unlink(self) -> None:
        keeper_world.unlink()
        self.linked, self.bystanders = False, keeper_world.bystanders()

    def _power(self) -> None:
        """Have the machine lose its power, and boot."""
        run = self._open()
        undone = self.after_undoing()
        undone |= {name: run.before[name] for name in (*keeper_world.SETTINGS, keeper_world.MOUNT)}
        if run.holder is not None:
            keeper_world.kill("all", run.holder.process)
            run.holder.close()
            run.holder = None
        keeper_world.reboot(run.before, str(self.number))
        self._settled(undone)


def take(number: int, seed: int, keeper: Path | None = None) -> str:
    """Have an order happen in namespaces of its own; return what was wrong, or nothing."""
    words = [sys.executable, "-m", "bench.robustness.keeper_orders", "--inside", str(number)]
    words += ["--seed", str(seed), *(["--keeper", str(keeper)] if keeper else [])]
    return (
        output(user_namespace.as_root([*OWN, *words]), folder=_ROOT, fine={0, 1}).decode().strip()
    )


def inside(number: int, seed: int, keeper: Path | None) -> int:
    """Have an order happen here, and report what was wrong."""
    keeper_world.made(keeper)
    draw = random.Random(f"{seed} {number}")  # noqa: S311  (the same order each time)
    order = Order(draw, keeper_world.observe(), keeper_world.bystanders())
    try:
        order.go()
    except WrongError as error:
        print(f"order {number} of seed {seed}: {error}\n  after {', '.join(order.steps)}")
        return 1
    return 0


def main() -> int:
    """Have orders happen, and print how many went wrong."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--orders", default="1-100", help="which, such as 1-50 or 7")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keeper", type=Path, help="another keeper, such as an earlier one")
    parser.add_argument("--inside", type=int, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.inside is not None:
        return inside(chosen.inside, chosen.seed, chosen.keeper)
    first, _, last = chosen.orders.partition("-")
    numbers = range(int(first), int(last or first) + 1)
    wrong = 0
    for number in numbers:
        said = take(number, chosen.seed, chosen.keeper)
        wrong += bool(said)
        print(said or f"order {number}: as it should be", flush=True)
    print(f"{len(numbers)} orders of {STEPS} steps, seed {chosen.seed}: {wrong} wrong")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())

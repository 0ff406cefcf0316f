"""Audit: a daemon that takes the records, and rules that the audit package's own auditctl loads.

auditctl 3.0.9 has two peculiarities, both verified. When reading a file, it logs to syslog until it
has sent its first rule, so that a rule refused before that is refused silently. Therefore a rule
that can match nothing is added and deleted again first. And it stops at the first refused rule,
unless the file says `-c`: then it continues, and reports the refusal in its exit status.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated, ClassVar, Self

from pydantic import BaseModel, Field, StrictBool, StrictInt

from auditrules.auditctl.translate import translate
from auditrules.load import watched_paths
from auditrules.load.load import AddedLine, Fate, load_rules
from auditrules.load.target import NOWHERE
from auditrules.model.fault import Fault, RulesError
from auditrules.model.location import Location
from auditrules.model.rule import Rule, RuleSet, split_options, split_words, with_key
from auditrules.read import parse
from hardcost.controls.control import (
    Control,
    Controls,
    PlaceboKind,
    Profile,
    Rank,
    combine_controls,
    first,
    of_kind,
)
from hardcost.errors import InputError
from hardcost.mechanisms.ansible import TaskGroup
from hardcost.mechanisms.auditctl_messages import (
    auditctl_error,
    parse_messages,
    problem_of_line,
)
from hardcost.mechanisms.boot import AUDIT_OFF, BootParameter
from hardcost.mechanisms.export import Exported, Left, on_one_line, with_comments
from hardcost.mechanisms.mechanism import TABLE, Mechanism, Phase, TableSource
from hardcost.toml.write import TomlEntry

if TYPE_CHECKING:
    from hardcost.protocol.answers import Answer
    from hardcost.protocol.requests import Request

# No process has this number: it is the kernel's PID_MAX_LIMIT, and numbers stay below it.
PREAMBLE = ("-c", "-a never,user -F pid=4194304", "-d never,user -F pid=4194304")
"""The lines that come before rules, so that auditctl reports each rule that is refused."""

_DISABLED = "-e 0"  # as auditctl takes it

_BUCKETS = (
    "the kernel looks rules on files up by the inode number modulo 32, so it also tries them on"
    " other files with the same remainder: that may be the cost of such a rule that fired 0 times"
)

_EXPORTED = "exported"  # the file of rules that are read back
_MOST_PATHS = 10_000
_PATH_FAILED = re.compile(r"(/[^:]+): (.*?)(?: \(os error \d+\))?$")


@dataclass(frozen=True)
class AuditDaemon(Control):
    """Audit switched on, with a daemon that takes the records.

    `options` are the control lines of a rules file that are loaded before its rules, such as
    `--backlog_wait_time 60000`; `tolerant` says that the file makes auditctl (`-i`, `-c`) continue
    after a refused rule. `directories` and `files` exist whether or not a loaded rule watches them.
    Otherwise a file that came and went with its rule would shift the inode numbers of other files,
    and with them the cost of their rules. Where the backlog limit is `assumed`, no table says it.
    """

    backlog_limit: int = 8192
    options: tuple[str, ...] = ()
    tolerant: bool = False
    directories: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    assumed: bool = field(default=False, compare=False)

    mechanism: ClassVar[str] = "audit"
    lacking: ClassVar[str] = "audit on, no rules"
    single: ClassVar[bool] = True
    rank: ClassVar[Rank] = Rank.AUDIT
    in_baseline: ClassVar[bool] = True
    enables: ClassVar[PlaceboKind] = "rule"

    @property
    def name(self) -> str:
        return "auditd"

    def after(self, before: Self) -> Control:
        """Return both together: the last limit holds, and all else adds up."""
        return replace(
            before if self.assumed else self,
            options=_union(before.options, self.options),
            tolerant=before.tolerant or self.tolerant,
            directories=_union(before.directories, self.directories),
            files=_union(before.files, self.files),
        )

    def as_part_of(self, profile: Sequence[Control]) -> Control:
        """Return the daemon with a limit that holds."""
        return replace(self, assumed=False)

    def switched_off(self, *, running: bool) -> Control:
        """Return the control that switches audit off: `-e 0` on a running machine, or `audit=0`."""
        return replace(self, options=(_DISABLED,)) if running else BootParameter(AUDIT_OFF)


@dataclass(frozen=True)
class AuditRule(Control):
    """One rule of the kernel's audit filter, as auditctl reads it; its place is the rule's."""

    rule: Rule

    mechanism: ClassVar[str] = "audit"
    lacking: ClassVar[str] = ""
    like: ClassVar[PlaceboKind] = "rule"
    rank: ClassVar[Rank] = Rank.AUDIT_RULE
    noun: ClassVar[str] = "audit rule"
    fires: ClassVar[bool] = True
    shares_price: ClassVar[bool] = True

    def __post_init__(self) -> None:
        object.__setattr__(self, "place", self.rule.place)

    @property
    def name(self) -> str:
        return self.rule.text

    @property
    def form(self) -> Hashable:
        """Return the rule as the kernel holds it, or its text where that is not known."""
        try:
            return translate(self.rule)
        except RulesError:
            return self.name

    @property
    def ignores(self) -> frozenset[str]:
        return self.rule.ignores

    @property
    def pays(self) -> bool:
        """Return whether the rule makes the kernel collect facts about each call.

        It does for rules on `exit`, watches among them, on `io_uring`, and for `always` ones on
        `task`. A `never` rule on `task` saves the price.
        """
        words = _list_and_action(self.rule)
        return bool(words & {"exit", "io_uring"}) or {"task", "always"} <= words

    @property
    def idle(self) -> tuple[Control, ...]:
        """Return two rules for a call that no program makes, where the rule is on the exit list."""
        return _IDLE if "exit" in _list_and_action(self.rule) else ()

    def with_record_key(self, key: str) -> Control:
        """Return the rule with another key."""
        return replace(self, rule=with_key(self.rule, key))

    def at_place(self, place: Location) -> Self:
        """Return the rule at another location."""
        return replace(self, rule=replace(self.rule, place=place))

    def companion(self) -> Control:
        """Return audit, switched on."""
        return AuditDaemon(assumed=True)


# No process has these numbers: the kernel's PID_MAX_LIMIT and the next one.
_IDLE = tuple(
    AuditRule(Rule(f"-a always,exit -F arch=b64 -S swapon -F pid={4194304 + number}"))
    for number in range(2)
)


@dataclass(frozen=True)
class Origin:
    """The names of a line of audit rules in benchmarks, and its gravest severity there."""

    ids: tuple[str, ...]
    severity: str


Origins = Mapping[tuple[Location, str], Origin]
"""The origin of a rule, by its location and text; several rules may have one location."""

_NO_ORIGIN = Origin((), "")


def controls_of(
    found: RuleSet, origins: Origins | None = None, exist: Sequence[str] = ()
) -> tuple[Control, ...]:
    """Return audit and the rules of a set, each with its origin.

    `exist` are paths that the guest has beside those that the rules watch; a directory's ends in a
    slash.
    """
    daemon = AuditDaemon(
        AuditDaemon.backlog_limit if found.backlog_limit is None else found.backlog_limit,
        options=found.options,
        tolerant=found.tolerant,
        directories=tuple(path.rstrip("/") for path in exist if path.endswith("/")),
        files=tuple(path for path in exist if not path.endswith("/")),
        assumed=found.backlog_limit is None,
    )
    rules = []
    for rule in found.rules:
        known = origins.get((rule.place, rule.text)) if origins and rule.place else None
        origin = known or _NO_ORIGIN
        rules.append(AuditRule(rule, ids=origin.ids, severity=origin.severity))
    return (daemon, *rules)


def rules_of(lines: Iterable[tuple[str, tuple[str | int, ...]]], source: TableSource) -> RuleSet:
    """Return the rules of lines, each with its path in a file; mistakes join its problems."""
    placed = []
    for text, path in lines:
        place = source.file.place(*source.at, *path)
        placed.append((text, Location(place.file, place.line or 1)))
    try:
        return parse.read_lines(placed)
    except RulesError as error:
        source.problems.extend(error.problems)
        return RuleSet(())


def audit_rules(controls: Iterable[Control]) -> tuple[Rule, ...]:
    """Return the audit rules among controls of any kind."""
    return tuple(one.rule for one in of_kind(controls, AuditRule))


def is_tolerant(controls: Iterable[Control]) -> bool:
    """Say whether the files of the rules have auditctl continue after a refused one."""
    return any(one.tolerant for one in of_kind(controls, AuditDaemon))


class AuditTable(BaseModel):
    """`audit = { … }`: audit switched on, with a daemon, and rules for it.

    `rules` are lines of a rules file; `files` are such files, or folders read as augenrules does,
    relative to the TOML file; `package` names the Debian package that holds the files; `profile` is
    the name or path of a profile whose audit rules are used. With `scap-profile`, the `files` are
    SCAP datastreams, and the rules are those that this profile of theirs requires. `exist` are
    paths that the guest has beside those that the rules watch; a directory's ends in a slash. A
    part of a profile has them, so that it is measured in the same guest as the whole.
    """

    model_config = TABLE

    enabled: StrictBool = True
    backlog_limit: Annotated[StrictInt, Field(ge=0, le=2**32 - 1)] | None = None
    rules: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    package: Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9+.-]+$")] | None = None
    profile: str | None = None
    scap_profile: Annotated[str | None, Field(alias="scap-profile")] = None
    exist: Annotated[tuple[str, ...], Field(max_length=_MOST_PATHS)] = ()


class AuditKeys(BaseModel):
    """`[audit]` is audit and its rules."""

    model_config = TABLE

    audit: AuditTable | None = None


class AuditMechanism(Mechanism[AuditKeys]):
    """Audit, switched on with a daemon that takes the records, and its rules."""

    name = "audit"
    toml = "`audit = { rules, files, profile, scap-profile, backlog_limit, exist }`"
    verified_by = "the number of rules that the kernel holds"
    keys = AuditKeys
    phase = Phase.AUDIT_RULES
    export_verb = "augenrules"

    def read(self, table: AuditKeys, source: TableSource) -> Iterator[Control]:
        """Yield audit and its rules: those of files, of a profile, and of the table itself."""
        own, here = table.audit, source.within("audit")
        if own is None:
            return
        if not own.enabled:
            if own.rules or own.files or own.profile:
                here.fault("audit has rules but is not enabled", "enabled")
            return
        files = here.paths(own.files, own.package) if own.files else []
        parts = [here.audit_rules(files, own.scap_profile)] if files else []
        if own.profile is not None:
            parts.append(_of_profile(own.profile, here))
            here.notes.extend(parts[-1].notes)
        for index, path in enumerate(own.exist):
            why = watched_paths.why_refused(path)
            if why is not None:
                here.fault(f"{path!r} is no path that the guest can have: {why}", "exist", index)
        lines = ((line, ("rules", index)) for index, line in enumerate(own.rules))
        said = parse.join([RuleSet((), own.backlog_limit), rules_of(lines, here)])
        parts.append(Controls(controls_of(said, exist=own.exist), said.notes))
        found = combine_controls(parts)
        rules = audit_rules(found.controls)
        here.notes.extend((*found.notes, *watched_paths.notes(rules)))
        yield from found.controls

    def write(self, controls: Sequence[Control]) -> Iterator[TomlEntry]:
        """Yield `[audit]`: settings of its daemon always, a rule where it is wanted."""
        rules = of_kind(controls, AuditRule)
        for daemon in of_kind(controls, AuditDaemon):
            yield TomlEntry(("audit", "backlog_limit"), daemon.backlog_limit)
            exist = watched_paths.as_written(daemon.directories, daemon.files)
            if exist:
                yield TomlEntry(("audit", "exist"), exist)
            for line in (*["-i"] * daemon.tolerant, *daemon.options):
                yield TomlEntry(("audit", "rules"), line, element=True)
        for one in rules:
            yield TomlEntry(("audit", "rules"), one.rule.text, (one.name,), element=True)

    def export(self, profile: Profile) -> Exported:
        """Return a profile's audit rules and settings as files for /etc/audit/rules.d.

        Of settings the last holds, and Debian's own `audit.rules` has some: so these get a file
        that comes after it. `-i` holds for the lines below it only, so it stands with the rules.
        """
        lines, settings, left = ["-D"], list[str](), list[Left]()
        for control in profile.controls:
            if isinstance(control, AuditDaemon):
                own = ["-i"] * control.tolerant
                lasting = [f"-b {control.backlog_limit}", *control.options]
                back = _read_back([*own, *lasting])
                wanted = (control.backlog_limit, control.options, control.tolerant)
                if back is None or (back.backlog_limit, back.options, back.tolerant) != wanted:
                    left.append((control.name, "its settings would be read back as others"))
                    continue
                settings += lasting
            elif isinstance(control, AuditRule):
                own = [control.rule.text]
                back = _read_back(own)
                if back is None or [one.text for one in back.rules] != own:
                    left.append((control.name, "the line would be read back as another"))
                    continue
            else:
                left.append((control.name, "it is no audit rule"))
                continue
            lines += own
        done = len(profile.controls) - len(left)
        head = f"# {on_one_line(f'The audit settings of the profile {profile.name}.')}"
        made = with_comments(profile, lines, done, left, "audit rules")
        return replace(made, settings="\n".join([head, *settings]) + "\n")

    def ansible_tasks(self, profile: Profile) -> tuple[Sequence[TaskGroup], Sequence[Left]]:
        """Return the group of audit rules, whose files are those of the export."""
        own = tuple(one for one in profile.controls if one.mechanism == self.name)
        made = self.export(replace(profile, controls=own))
        return [TaskGroup("audit", "audit rules", made.controls, {}, made.files("ROLE"))], made.left

    def requests(self, controls: Sequence[Control]) -> tuple[Request, ...]:
        """Return the requests that make the watched paths, then load the rules.

        Raises:
            InputError: There are rules and no daemon.
        """
        from hardcost.mechanisms import audit_loading, placebo  # noqa: PLC0415  (a price needs no guest)

        daemon, rules = first(controls, AuditDaemon), audit_rules(controls)
        if daemon is None:
            if rules:
                raise InputError("there are audit rules, and audit is not switched on")
            return ()
        directories, files = watched_paths.paths(rules, daemon.directories, daemon.files)
        lines = (*_lines(daemon, rules), *placebo.rules(controls))
        text = "".join(f"{line}\n" for line in lines) if len(lines) > len(PREAMBLE) else ""
        probe = not any(one.takes_records for one in controls)
        load = audit_loading.loading_requests(text, daemon.backlog_limit, by_probe=probe)
        return (*audit_loading.path_requests(directories, files), *load)

    def verify(self, controls: Sequence[Control], answers: Sequence[Answer]) -> tuple[str, ...]:
        """Check that the kernel holds just the rules that were asked for.

        Returns notes: auditctl's warnings and, where the rules' files ask to go on, what was
        refused.

        Raises:
            InputError: auditctl refused rules; each is named with its place.
            TrialError: The kernel holds another number of rules, or auditctl failed.
        """
        from hardcost.mechanisms import audit_loading  # noqa: PLC0415  (as above)

        daemon, rules = first(controls, AuditDaemon), audit_rules(controls)
        if daemon is None:
            return ()
        probe = not any(one.takes_records for one in controls)
        answer = audit_loading.loading_result(answers, by_probe=probe)
        said = parse_messages(answer.stderr)
        begin = len(PREAMBLE) + len(daemon.options) + 1
        by_line = dict(enumerate(rules, begin))
        sent = _lines(daemon, rules)
        ours = range(len(PREAMBLE) + 1, len(sent) + 1)
        if answer.exit not in {0, 1} or any(line not in ours for line in said.refused):
            raise auditctl_error(answer)
        problems = tuple(
            problem_of_line(sent[line - 1], by_line.get(line), message)
            for line, message in sorted(said.refused.items())
        )
        if problems and not daemon.tolerant:
            raise InputError.of(problems)
        refused_rules = sum(line >= begin for line in said.refused)
        if answer.loaded != len(rules) - refused_rules or (answer.exit and not problems):
            raise auditctl_error(answer, f"{answer.loaded} of {len(rules)} audit rules are loaded")
        notes = [f"{_at(problem.place)}{problem.message}" for problem in problems]
        for line, text in said.warned:
            rule = by_line.get(line) if line else None
            place = f"{rule.place}: " if rule and rule.place else ""
            notes.append(f"{place}auditctl warns: {text}")
        return tuple(notes)

    def check(self, controls: Sequence[Control], name: str) -> None:
        """Check that auditctl would load every rule.

        Where the files ask auditctl to go on (-i, -c), nothing is checked: the guest's own auditctl
        says then what it left out.

        Raises:
            InputError: It would refuse some; all are reported at once, as `hardcost rules lint`
                does.
        """
        if is_tolerant(controls):
            return
        rules = audit_rules(controls)
        found = load_rules(rules, NOWHERE.likely_target(rules), name)
        faults = tuple(_faults(found.lines))
        if faults:
            raise RulesError(faults)

    def steady(self, controls: Sequence[Control], among: Sequence[Control]) -> Sequence[Control]:
        """Return the controls, with a daemon that creates all paths that rules of `among` watch.

        Leaving out a rule then doesn't shift the inode numbers of other files, and with them the
        cost of other rules.
        """
        rules, daemons = audit_rules(among), of_kind(among, AuditDaemon)
        directories, files = watched_paths.paths(
            rules,
            (path for daemon in daemons for path in daemon.directories),
            (path for daemon in daemons for path in daemon.files),
        )
        return [
            replace(one, directories=directories, files=files)
            if isinstance(one, AuditDaemon)
            else one
            for one in controls
        ]

    def remarks(self, controls: Sequence[Control]) -> Sequence[str]:
        _, files = watched_paths.paths(audit_rules(controls))
        return (_BUCKETS,) if files else ()

    def explain(self, controls: Sequence[Control], message: str) -> InputError | None:
        """Return the user's error behind a watched path that the guest can't make."""
        found = _PATH_FAILED.search(message)
        if found is None:
            return None
        for rule in audit_rules(controls):
            for path in (*rule.watched_directories, *rule.watched_files):
                if path == found[1] or path.startswith(f"{found[1]}/"):
                    place = rule.place
                    return InputError(
                        f"the machine can't have {path}, which the rule watches: {found[2]}",
                        place=place,
                        hint="name a shorter path, none of whose folders is a file there",
                    )
        return None


def _lines(daemon: AuditDaemon, rules: Sequence[Rule]) -> tuple[str, ...]:
    """Return the lines that auditctl reads; a rule is found again by its line."""
    return (*PREAMBLE, *daemon.options, *(rule.text for rule in rules))


def _at(place: Location | None) -> str:
    return f"{place}: " if place else ""


def _union(before: tuple[str, ...], after: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*before, *after)))


def _list_and_action(rule: Rule) -> frozenset[str]:
    """Return the words of a rule's list and action; a watch is on the exit list."""
    options, _ = split_options(split_words(rule.text))
    found = [value for option, value in options if option in {"-a", "-A"}]
    return frozenset(found[0].split(",")) if found else frozenset({"always", "exit"})


def _faults(lines: Iterable[AddedLine]) -> Iterator[Fault]:
    """Yield why lines can't be loaded."""
    for line in lines:
        if line.fault is not None:
            yield Fault(
                f"{line.fault.message}: `{line.reading.text}`",
                line.fault.place,
                line.fault.remedy,
            )
        elif line.fate is Fate.TWICE:
            earlier = line.earlier.source if line.earlier else None
            first = f" by {earlier.place}" if earlier and earlier.place else ""
            yield Fault(
                f"the same rule is already loaded{first}: `{line.reading.text}`",
                line.reading.place,
                "auditctl stops at a rule that is already loaded: remove this line",
            )


def _of_profile(name: str, source: TableSource) -> Controls:
    """Return the audit rules of a profile; a note says so where it has other controls too."""
    found = source.profile(name, "profile")
    own = tuple(one for one in found.controls if one.mechanism == AUDIT.name)
    notes = found.notes
    if found.controls and not own:
        message = f"the profile {name} has no audit rules"
        source.fault(message, "profile", hint="name it as `profile`, beside `audit`")
    elif len(own) < len(found.controls) or found.accounting:
        notes = (*notes, f"only the audit rules of the profile {name} are used")
    return Controls(own, notes)


def _read_back(lines: Sequence[str]) -> RuleSet | None:
    """Return the rules of lines; None if they are not one line each, or say nothing."""
    if any("\n" in text or not text.isprintable() for text in lines):
        return None
    data = "".join(f"{text}\n" for text in lines)
    try:
        read = parse.read_bytes(data.encode(), _EXPORTED)
        return parse.read_lines(
            (one.raw, Location(_EXPORTED, at)) for at, one in enumerate(read, 1)
        )
    except (RulesError, UnicodeEncodeError):
        return None


AUDIT = AuditMechanism()

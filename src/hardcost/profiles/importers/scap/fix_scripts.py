"""The audit rules that repair scripts of SCAP content write, found without running the scripts.

SCAP content states its audit rules in four ways: as a check (patterns, which also match other
lines), as prose, as Ansible tasks, and as a shell script for repair. Only the script has the exact
lines, with their keys and files, and the grouping of system calls. It consists of a few macros,
which are followed here for an x86_64 machine without rules that loads its rules with augenrules.
Other actions of a script are ignored, and anything not understood is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

FOLDER = "/etc/audit/rules.d/"
MOST_LINES = 4_000
_ARCHES = ("b32", "b64")
_TOOL_VARIABLES = (
    "ACTION_ARCH_FILTERS", "OTHER_FILTERS", "AUID_FILTERS", "SYSCALL", "SYSCALL_GROUPING", "KEY",
)  # fmt: skip

_ASSIGNMENT = re.compile(r'([A-Z_]+)=(?:"([^"]*)"|(\w*))')
_VALUE = re.compile(r"(var_\w+)='([^']*)'")  # of the benchmark, tailored
_VARIABLE = re.compile(r"\$(?:\{(\w+)\}|(\w+))")
_HEREDOC = re.compile(r"cat\s*<<-?\s*['\"]?(\w+)['\"]?\s*(>{1,2})\s*(\S+)")
_ARCH_TEST = re.compile(r'(?:if|elif) \[+ "?\$\{?ARCH\}?"? ={1,2} "?(b32|b64)"? \]+;?(?: then)?')
_ECHO = re.compile(r"echo (?:-e )?(['\"])(.*)\1 >> [\"']?\$\{?(\w+)\}?[\"']?")
_FILE_LOOP = re.compile(r"for (\w+) in ([\"']?/etc/audit/.*)")
_REMOVAL = re.compile(r"find /etc/audit .*sed -i '/(-[a-z])\[\[:space:\]\]\\\+\.\*/d'")
_CALLS = re.compile(r"-S [\w,]+(?: -S [\w,]+)*")
_LOOKS_LIKE_RULES = re.compile(
    r"(?m)(?:^|[\"'=\s])-(?:[aA] (?:always|never|exit|task|exclude|user)|w (?:/|\$\{var_)"
    r"|[efbr] \d|D\s*$"
    r"|-loginuid-immutable|-backlog_wait_time)"
)


@dataclass(frozen=True)
class WrittenRules:
    """A line in a file of /etc/audit/rules.d, and its origin (ids of SCAP rules)."""

    text: str
    asked_by: tuple[str, ...]


class TooManyError(Exception):
    """The scripts write more lines than any rule set has."""


@dataclass
class RulesFolder:
    """The files of /etc/audit/rules.d by name, while scripts are followed."""

    files: dict[str, list[WrittenRules]] = field(default_factory=dict)
    appended: int = 0

    def append(self, name: str, text: str, by: str) -> None:
        """Append a line.

        Raises:
            TooManyError: There are more than `MOST_LINES`.
        """
        self.appended += 1
        if self.appended > MOST_LINES:
            raise TooManyError
        self.files.setdefault(name, []).append(WrittenRules(text, (by,)))

    def lines(self) -> Iterator[tuple[list[WrittenRules], int]]:
        """Yield the location of each line."""
        for name in sorted(self.files):
            for at in range(len(self.files[name])):
                yield self.files[name], at

    def remove(self, option: str) -> None:
        """Remove the control lines with an option."""
        for name, lines in self.files.items():
            self.files[name] = [line for line in lines if f"{option} " not in line.text]


def mentions_rules(script: str) -> bool:
    """Say whether a script (or prose) has audit rules in files that auditctl or augenrules read.

    A script that only changes such files' owners or permissions has none.
    """
    named = "audit/rules.d" in script or "audit/audit.rules" in script
    return named and _LOOKS_LIKE_RULES.search(script) is not None


def follow(script: str, folder: RulesFolder, by: str) -> str | None:
    """Apply a script to `folder`, or return why it can't be followed, having changed nothing."""
    before = {name: list(lines) for name, lines in folder.files.items()}
    run = _Run(folder, by)
    run.block(script.splitlines())
    if run.problem is None and not run.wrote:
        run.problem = "its script writes rules in an unknown way"
    if run.problem is not None:
        folder.files.clear()
        folder.files.update(before)
    return run.problem


class _Run:
    """A script being followed."""

    def __init__(self, folder: RulesFolder, by: str) -> None:
        self.folder, self.by = folder, by
        self.variables: dict[str, str] = {}
        self.key_file: str | None = None
        self.append_to: dict[str, tuple[str, ...]] = {}
        self.problem: str | None = None
        self.wrote = False

    def block(self, lines: Sequence[str]) -> None:
        """Follow lines; a loop over the two ABIs runs for each of them."""
        branches: list[bool] = []
        at = 0
        while at < len(lines):
            line = lines[at].strip()
            heredoc = _HEREDOC.match(line)
            if heredoc:
                end = _end_of_heredoc(lines, at + 1, heredoc[1])
                self._heredoc(heredoc, lines[at + 1 : end])
                at = end + 1
                continue
            if line.startswith("for ARCH in "):
                end = _end_of_loop(lines, at)
                if "ARCH" in self.variables:
                    self.problem = "its script has a loop over architectures within another"
                    return
                for arch in _ARCHES:
                    self.variables["ARCH"] = arch
                    self.block(lines[at + 1 : end])
                del self.variables["ARCH"]
                at = end + 1
                continue
            _follow_branch(line, branches, self.variables)
            if all(branches):
                self._follow_line(line)
            at += 1

    def _follow_line(self, line: str) -> None:
        assignment = _ASSIGNMENT.fullmatch(line.removeprefix("local "))
        chosen = _VALUE.fullmatch(line)
        if chosen:
            self.variables[chosen[1]] = chosen[2]
        elif assignment and assignment[1] in _TOOL_VARIABLES:
            value = assignment[2] if assignment[2] is not None else assignment[3]
            self.variables[assignment[1]] = self._expand_variables(value)
        elif line.startswith(f'default_file="{FOLDER}'):
            self._syscall_rule(line)
        elif line.startswith(f'key_rule_file="{FOLDER}'):
            self.key_file = self._expand_variables(line.split('"')[1])
        elif "-perm" in line.split() and "find /" in line:
            self.problem = (
                "its lines are for the privileged programs that a machine happens to have"
            )
        else:
            self._other_line(line)

    def _other_line(self, line: str) -> None:
        loop = _FILE_LOOP.fullmatch(line)
        removal = _REMOVAL.match(line)
        echo = _ECHO.fullmatch(line)
        if loop:
            files = (word.strip("\"';") for word in loop[2].split())
            self.append_to[loop[1]] = tuple(file for file in files if file.startswith(FOLDER))
        elif removal:
            self.folder.remove(removal[1])
        elif echo and echo[3] in self.append_to:
            self._append(self.append_to[echo[3]], echo[2])
        elif echo and echo[2].startswith("-w ") and self.key_file is not None:
            self._watch(echo[2], self.key_file)
            self.key_file = None

    def _expand_variables(self, text: str) -> str:
        def value(found: re.Match[str]) -> str:
            name = found[1] or found[2]
            if name not in self.variables:
                self.problem = f"its script uses the unknown variable {name}"
            return self.variables.get(name, "")

        return _VARIABLE.sub(value, text)

    def _heredoc(self, found: re.Match[str], lines: Sequence[str]) -> None:
        file = self._expand_variables(found[3].strip("\"'"))
        if not file.startswith(FOLDER):
            return
        name = file.removeprefix(FOLDER)
        if found[2] == ">":
            self.folder.files[name] = []
        for line in lines:
            self._append((file,), line)

    def _append(self, files: Sequence[str], line: str) -> None:
        self.wrote = True
        for file in files:
            if line.strip():
                self.folder.append(file.removeprefix(FOLDER), line.strip(), self.by)

    def _watch(self, line: str, file: str) -> None:
        """Widen the permissions of an existing watch, or append it."""
        found = re.fullmatch(r"-w (\S+) -p ([rwxa]+) (-k \S+)", self._expand_variables(line))
        if found is None:
            self.problem = "its script writes a watch that is not understood"
            return
        self.wrote = True
        for lines, at in self.folder.lines():
            there = re.fullmatch(r"-w (\S+) -p ([rwxa]+)(.*)", lines[at].text)
            if there and there[1] == found[1]:
                letters = there[2] + "".join(bit for bit in found[2] if bit not in there[2])
                text = f"-w {there[1]} -p {letters}{there[3]}"
                lines[at] = _add_asker(replace(lines[at], text=text), self.by)
                return
        self.folder.append(file.removeprefix(FOLDER), found[0], self.by)

    def _syscall_rule(self, line: str) -> None:
        """Add the calls to a rule that may share its line with them, or append one."""
        file = self._expand_variables(line.split('"')[1]).removeprefix(FOLDER)
        wanted = _parts(self.variables)
        calls = self.variables.get("SYSCALL", "").split()
        together = set(self.variables.get("SYSCALL_GROUPING", "").split())
        if not wanted[0].startswith(("-a ", "-A ")):
            self.problem = "its script writes a rule that is not understood"
            return
        self.wrote = True
        chosen: tuple[list[WrittenRules], int] | None = None
        for lines, at in self.folder.lines():
            there = _calls_beside(lines[at].text, wanted)
            if there is None:
                continue
            if set(calls) <= set(there):
                lines[at] = _add_asker(lines[at], self.by)
                return
            if together & set(there):
                chosen = lines, at
        if chosen is None:
            words = [wanted[0], *(f"-S {call}" for call in calls), *filter(None, wanted[1:])]
            text = " ".join([*words, f"-F key={self.variables.get('KEY', '')}"])
            self.folder.append(file, text, self.by)
            return
        lines, at = chosen
        lines[at] = _add_asker(_with_calls(lines[at], calls), self.by)


def _parts(variables: Mapping[str, str]) -> tuple[str, str, str]:
    """Return action and architecture, other fields, and user fields."""
    names = ("ACTION_ARCH_FILTERS", "OTHER_FILTERS", "AUID_FILTERS")
    first, other, user = (variables.get(name, "").strip() for name in names)
    return first, other, user


def _calls_beside(text: str, wanted: tuple[str, str, str]) -> list[str] | None:
    """Return the calls of a rule that has exactly these parts, or None for another rule."""
    found = _CALLS.search(text)
    calls = found[0] if found else ""
    rest = text.replace(calls, "", 1) if calls else text
    rest = re.sub(r"-F key=\S+|-k \S+", "", rest)
    if rest.split() != " ".join(wanted).split():
        return None
    return re.sub(r"-S |,", " ", calls).split()


def _with_calls(line: WrittenRules, calls: Sequence[str]) -> WrittenRules:
    """Return a rule with calls added, in the style of its others."""
    found = _CALLS.search(line.text)
    there = found[0] if found else ""
    between = "," if "," in there else " -S "
    present = re.sub(r"-S |,", " ", there).split()
    new = there + "".join(f"{between}{call}" for call in calls if call not in present)
    return replace(line, text=line.text.replace(there, new, 1))


def _add_asker(line: WrittenRules, by: str) -> WrittenRules:
    return replace(line, asked_by=tuple(dict.fromkeys((*line.asked_by, by))))


def _follow_branch(line: str, branches: list[bool], variables: Mapping[str, str]) -> None:
    """Track the branches around a line; branches that do not depend on ARCH are all followed."""
    test = _ARCH_TEST.fullmatch(line)
    if re.match(r"if\b", line):
        branches.append(test is None or test[1] == variables.get("ARCH"))
    elif line.startswith("elif") and branches:
        branches[-1] = test is None or test[1] == variables.get("ARCH")
    elif re.match(r"fi\b", line) and branches:
        branches.pop()


def _end_of_heredoc(lines: Sequence[str], start: int, word: str) -> int:
    for at in range(start, len(lines)):
        if lines[at].strip() == word:
            return at
    return len(lines)


def _end_of_loop(lines: Sequence[str], start: int) -> int:
    """Return the end of the loop that begins at `start`."""
    depth = 0
    for at in range(start, len(lines)):
        line = lines[at].strip()
        if re.match(r"(?:for|while|until)\s", line):
            depth += 1
        elif re.match(r"done\b", line):
            depth -= 1
            if depth == 0:
                return at
    return len(lines)

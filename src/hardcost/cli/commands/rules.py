"""The arguments and options of `hardcost rules` and its verbs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import (
    RuleTaker,
    fail_on_option,
    format_option,
    histogram,
    sarif_file_option,
)
from hardcost.cli.lazy import LazyGroup, carried_out_by, imported

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = 60.0  # prove.DEFAULT_SECONDS
RELEASES = ("6.1", "6.12", "7.2", "7.3")  # lookup.RELEASES; the oldest first

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_several = click.argument(
    "texts", metavar="RULES...", nargs=-1, required=True, shell_complete=completion.profiles
)
_MACHINE_OPTIONS = (
    click.option(
        "--root",
        type=click.Path(path_type=Path, exists=True, file_okay=False),
        help="A folder with the root file system that the rules are for (/ for this machine), to"
        " look up whether a path that -w watches is a directory.",
    ),
    click.option(
        "--paths",
        "paths_list",
        type=_FILE,
        help="The same, without its files: a list of its paths, one per line, with a / after each"
        " directory, as `ls -dLp PATH…` prints it.",
    ),
    click.option("--passwd", type=_FILE, help="A file like /etc/passwd, to look up users."),
    click.option("--group", type=_FILE, help="A file like /etc/group, to look up groups."),
)


def _machine_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that describe the machine."""
    for option in reversed(_MACHINE_OPTIONS):
        option(command)
    return command


_leave_out_option = click.option(
    "--leave-out-faulty",
    is_flag=True,
    help="Skip lines that auditctl refuses, as auditctl itself does after a line `-i`.",
)

_histogram_option = histogram(
    "How often a workload makes each call: the output of `strace -c`, `perf trace -s` or the"
    ' exported calls.bt, or JSON such as {"openat": 12} (default: an assumed mix for a'
    " general-purpose system).",
)


def _said_and_ended(place: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """Return an option's callback that prints what `place` returns for its value, and ends."""

    def callback(context: click.Context, _option: click.Parameter, value: Any) -> None:  # noqa: ANN401  (click's)
        if value and not context.resilient_parsing:
            click.echo(imported(place)(value))
            context.exit()

    return callback


@click.group(cls=LazyGroup)
def rules() -> None:
    """Check audit rules, predict their cost, compare two sets, and make them cheaper.

    RULES is a file of rules, or a folder of them such as /etc/audit/rules.d, read as augenrules
    does; - for standard input; a rule in quotes; a profile from `hardcost list profiles` or in
    TOML; FILE.xml:PROFILE for a profile of a SCAP datastream; or what a benchmark calls a control,
    such as RHEL-09-654010.

    \b
    Examples:  hardcost rules lint /etc/audit/rules.d
               hardcost rules cost '-w /etc/passwd -p wa'
               hardcost rules explain RHEL-09-654010 --event 'syscall=execve auid=1000 egid=0'
    """


@rules.command(cls=RuleTaker)
@click.argument("texts", metavar="[RULES]...", nargs=-1, shell_complete=completion.profiles)
@_histogram_option
@click.option("--measure", is_flag=True, help="Also measure in a guest, and show both numbers.")
@click.option(
    "--fit",
    is_flag=True,
    help="Measure the prices of single rules again, by which costs are predicted: for --kernel in a"
    " guest, in about 3 minutes, or in nanoseconds on --machine, in about 10.",
)
@click.option(
    "--machine",
    "fit_on",
    metavar="NAME",
    shell_complete=completion.machines,
    help="Where --fit measures: in nanoseconds on host or ssh:root@HOST (default: in instructions"
    " in a guest).",
)
@click.option(
    "--prices",
    "prices_of",
    metavar="NAME",
    shell_complete=completion.machines,
    help="Predict nanoseconds, by the prices that --fit --machine NAME has measured.",
)
@click.option(
    "--yes",
    is_flag=True,
    help="Let --fit load rules on this host (as root), or on a machine where users are logged in.",
)
@click.option(
    "--kernel",
    type=click.Path(path_type=Path),
    shell_complete=completion.kernels,
    help="The kernel whose prices apply: a bzImage, a vmlinux, or 'host' (default: Debian's).",
)
@click.option(
    "--cpu", metavar="MODEL", default="max", show_default=True, help="QEMU's processor model."
)
@_machine_options
@_leave_out_option
@format_option()
@carried_out_by("hardcost.cli.rules.cost:cost")
def cost() -> None:
    """Predict what audit rules cost each system call, in instructions or nanoseconds.

    Nothing is booted: hardcost comes with the prices of single rules on Debian's kernel. For
    another kernel, or with --fit, they are measured in a guest once and kept with that kernel.

    A cost is that of a typical call: by an ordinary user, successful, on files that no rule
    watches. Instructions are work, not time. A watch (-w) on a directory makes every call dearer.
    Without --root or --paths, hardcost guesses from a path's name whether it is a directory.

    With --prices, costs are in nanoseconds on one machine. --fit --machine measures the prices: it
    loads about a hundred small rule sets there, one after another, times calls under each, and
    restores the machine's own rules. It also reports how far predictions are off, for sets that it
    kept out of the fit.

    \b
    Examples:  hardcost rules cost /etc/audit/rules.d
               strace -c -f -o counts.txt make
               hardcost rules cost --histogram counts.txt stig.rules
               hardcost rules cost --measure stig.rules
               hardcost rules cost --fit --machine ssh:root@web1
               hardcost rules cost --prices ssh:root@web1 /etc/audit/rules.d
    """


@rules.command(cls=RuleTaker)
@_several
@click.option(
    "--event", required=True, metavar="WORDS", help="The system call, as in the example below."
)
@click.option("--all", "show_all", is_flag=True, help="Show every rule on a line of its own.")
@_machine_options
@_leave_out_option
@format_option()
@carried_out_by("hardcost.cli.rules.explain:explain")
def explain() -> None:
    """Show which rule decides whether a system call is recorded, and what each rule costs it.

    WORDS describe the call by FIELD=VALUE, with the fields of audit rules (defaults in
    parentheses): syscall, arch (b64), exit (0) or success=no, auid (unset), uid (as auid), the
    other user and group ids (as uid), pid, ppid, sessionid, pers, a0 to a3, exe, perm. Give path=
    for each file that the call uses, in order; fields such as filetype, obj_uid, obj_gid and inode
    describe the path before them. perm=r or perm=w says how a call opens its file.

    All paths in the rules are assumed to exist and to be different files. Instructions are
    predictions for Debian's kernel.

    \b
    Example:  hardcost rules explain /etc/audit/rules.d --event \\
                'syscall=openat arch=b64 auid=1000 exit=-13 path=/etc/shadow perm=r'
    """


@rules.command(cls=RuleTaker)
@_several
@click.option("--no-b32", is_flag=True, help="No program on the machine can make 32-bit calls.")
@click.option(
    "--root",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder that represents the machine's /, to check whether the paths in rules exist.",
)
@click.option(
    "--select", metavar="CODES", help="Look only for these codes; separate them with commas."
)
@click.option(
    "--ignore", metavar="CODES", help="Do not look for these codes; separate them with commas."
)
@click.option("--all", "show_all", is_flag=True, help="Show each finding in full.")
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_said_and_ended("hardcost.cli.rules.lint:listed_codes"),
    help="List all findings that lint looks for.",
)
@click.option(
    "--explain",
    metavar="CODE",
    is_eager=True,
    expose_value=False,
    callback=_said_and_ended("hardcost.cli.rules.lint:explained"),
    help="Explain a finding: what it is, why it matters, and what to do.",
)
@click.option(
    "--generate-ignore",
    is_flag=True,
    help="Write today's findings down, as a comment above each line, so that only new ones fail.",
)
@click.option(
    "--fix",
    is_flag=True,
    help="Make the safe repairs, after which the same is proved to be recorded: remove repeated"
    " rules, put cheap conditions first.",
)
@click.option(
    "--unsafe-fixes",
    is_flag=True,
    help="Make the other repairs, too: mend a misspelt architecture or call that has exactly one"
    " near name, put arch before -S. What loads today is recorded as before.",
)
@click.option("--dry-run", is_flag=True, help="With --fix: show the repairs, and write nothing.")
@fail_on_option(
    "The least level of a finding that makes the exit status 1; a note never does.",
)
@sarif_file_option
@click.option(
    "--format",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
    help="The output format.",
)
@carried_out_by("hardcost.cli.rules.lint:lint")
def lint() -> None:
    """Find faults and wasted work in audit rules.

    Several RULES are one set of rules, in loading order. Nothing is actually loaded or run. Costs
    are predictions, in instructions on Debian's kernel.

    --fix repairs the files in place: comments, the order of lines and the files' permissions stay.
    The findings shown are then those that remain.

    A comment on the line above a rule leaves findings out; words behind the codes are the reason:

    \b
               # hardcost: ignore=CODE,CODE

    In a job on GitHub, findings are annotations, too. An error is what keeps rules from loading.

    The exit status is 1 if a finding is an error, or of the level that --fail-on names. No format
    changes it.

    \b
    Examples:  hardcost rules lint /etc/audit/rules.d
               hardcost rules lint --fix --dry-run my.rules
               hardcost rules lint --fail-on warning --sarif-file lint.sarif my.rules
               hardcost rules lint --explain shadowed
    """


@rules.command(cls=RuleTaker)
@_several
@click.option(
    "-o",
    "--out",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False, allow_dash=True),
    help="The file to write, or - for standard output; the report then goes to standard error.",
)
@click.option("--force", is_flag=True, help="Overwrite the file if it exists.")
@_histogram_option
@click.option("--no-b32", is_flag=True, help="The machine has no 32-bit calls.")
@click.option(
    "--allow-never-first",
    is_flag=True,
    help="Put a `never` rule at the front, for calls that no rule names; the report says what that"
    " gives up.",
)
@click.option(
    "--keep-lines",
    is_flag=True,
    help="Keep each rule's line, for scanners that look for lines: rules are only reordered (-A"
    " becomes -a), and --allow-never-first may add one.",
)
@click.option(
    "--least-seconds",
    metavar="SECONDS",
    type=click.FloatRange(min=0),
    default=30.0,
    show_default=True,
    help="Processor time for computing the least that any set can cost; OUT is written first.",
)
@click.option("--no-least", is_flag=True, help="Do not compute the least.")
@_machine_options
@_leave_out_option
@format_option()
@click.option(
    "--thorough",
    is_flag=True,
    help="Make every change that saves anything, also where a line is hard to recognise then:"
    " numbers of calls, one rule for both ABIs, ranges of errors.",
)
@carried_out_by("hardcost.cli.rules.optimize:optimize")
def optimize() -> None:
    """Make audit rules cheaper, and prove that they record the same.

    The optimiser merges the calls of similar rules, drops rules that decide about no call, reorders
    conditions, and narrows rules to the calls that they can match. It makes few changes, which an
    auditor recognises; --thorough makes all. In OUT, each rule has the lines it came from, what the
    change saves, and why the same is recorded; the head has the assumptions of the proof. Costs are
    predicted instructions on Debian's kernel; `least` is a lower bound for any set that records the
    same.

    A watch (-w) stays unchanged, since auditctl asks the file system whether its path is a
    directory. With --root or --paths, the optimiser knows, and can make the watch cheaper.

    Where no cheaper set is found, OUT has the same rules. The exit status is 1 if every cheaper set
    that was found makes a call more expensive or could not be proved equal.

    \b
    Example:  hardcost rules optimize /etc/audit/rules.d -o cheaper.rules
    """


@rules.command(cls=RuleTaker)
@click.argument("a", shell_complete=completion.profiles)
@click.argument("b", shell_complete=completion.profiles)
@click.option("--ignore-keys", is_flag=True, help="Ignore under which keys events are recorded.")
@click.option("--no-b32", is_flag=True, help="The machine has no 32-bit calls.")
@click.option("--at-least", is_flag=True, help="Let B record more than A, but nothing less.")
@click.option(
    "--ignore-raised",
    is_flag=True,
    help="Assume that only rules cause records, and not, say, a denial by SELinux. A `never` rule"
    " then changes nothing, unless a later rule would record.",
)
@click.option(
    "--seconds",
    metavar="SECONDS",
    type=click.FloatRange(min=0.1),
    default=SECONDS,
    show_default=True,
    help="Give up after this much processor time.",
)
@click.option(
    "--release",
    type=click.Choice(RELEASES),
    default=RELEASES[0],
    show_default=True,
    help="The release of Linux that says which calls the permissions of -p and perm mean.",
)
@_machine_options
@_leave_out_option
@format_option()
@carried_out_by("hardcost.cli.rules.prove:prove")
def prove() -> None:
    """Prove that two sets of audit rules record the same, or show an event that proves they don't.

    A and B are what `hardcost rules --help` calls RULES. They record the same if each event is
    recorded by both or by neither, under the same key and with the same files. The proof covers
    both cases of each path that -w watches, directory and file, unless --root or --paths says which
    it is. It prints its other assumptions.

    The exit status is 1 if they differ, and 3 if no answer was found in time.

    \b
    Examples:  hardcost rules prove /etc/audit/rules.d new.rules
               hardcost rules prove RHEL-09-654010 my.rules --ignore-keys
    """

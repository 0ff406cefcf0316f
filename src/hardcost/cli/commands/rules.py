"""The arguments and options of `hardcost rules` and its verbs."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hardcost.cli.commands import completion
from hardcost.cli.commands.shared import format_option
from hardcost.cli.lazy import LazyGroup, carried_out_by, imported

if TYPE_CHECKING:
    from collections.abc import Callable

SECONDS = 60.0  # prove.DEFAULT_SECONDS
RELEASES = ("6.1", "6.12", "7.2", "7.3")  # lookup.RELEASES; the oldest first

_RULES = click.Path(path_type=Path, exists=True, allow_dash=True)
"""The type of an argument that names a file or folder of rules; `-` is standard input."""

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_MACHINE_OPTIONS = (
    click.option(
        "--root",
        type=click.Path(path_type=Path, exists=True, file_okay=False),
        help="A folder that represents the machine's /, to check whether a path that -w watches is"
        " a directory.",
    ),
    click.option(
        "--paths",
        "paths_list",
        type=_FILE,
        help="A list of the machine's paths, one per line, with a / after each directory, as"
        " `ls -dLp PATH…` prints it.",
    ),
    click.option("--passwd", type=_FILE, help="A file such as /etc/passwd, to look up users."),
    click.option("--group", type=_FILE, help="A file such as /etc/group, to look up groups."),
)


def _machine_options(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the options that describe the machine."""
    for option in reversed(_MACHINE_OPTIONS):
        option(command)
    return command


_leave_out_option = click.option(
    "--leave-out-faulty",
    is_flag=True,
    help="Skip the lines that auditctl refuses, as auditctl itself does after a line -i.",
)

_histogram_option = click.option(
    "--histogram",
    "histogram_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="How often a workload makes each call: the output of `strace -c`, `perf trace -s` or the"
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
    """Lint, price, explain, compare and optimise audit rules.

    PATH is a file of rules, or a folder that is read as augenrules does.

    \b
    Example:  hardcost rules lint /etc/audit/rules.d
    """


@rules.command()
@click.argument("paths", nargs=-1, type=_RULES)
@_histogram_option
@click.option("--measure", is_flag=True, help="Also measure in a guest, and show both.")
@click.option(
    "--fit",
    is_flag=True,
    help="Fit the constants for the kernel again, which takes about three minutes; with --machine,"
    " in nanoseconds for that machine, which takes some ten.",
)
@click.option(
    "--machine",
    "fit_on",
    metavar="NAME",
    shell_complete=completion.machines,
    help="Where --fit measures: host or ssh:root@HOST, whose times are fitted (default: a guest,"
    " whose instructions are).",
)
@click.option(
    "--prices",
    "prices_of",
    metavar="NAME",
    shell_complete=completion.machines,
    help="Predict nanoseconds of this machine, by the prices that --fit --machine NAME found.",
)
@click.option(
    "--yes",
    is_flag=True,
    help="Let --fit load rules on this host (as root), or while users are logged in.",
)
@click.option(
    "--kernel",
    type=click.Path(path_type=Path),
    shell_complete=completion.kernels,
    help="The kernel whose prices apply: a bzImage, a vmlinux, or 'host' (default: Debian's).",
)
@click.option("--cpu", default="max", show_default=True, help="QEMU's processor model.")
@_machine_options
@_leave_out_option
@format_option()
@carried_out_by("hardcost.cli.rules.cost:cost")
def cost() -> None:
    """Predict what audit rules cost each system call, in instructions or nanoseconds.

    This boots nothing: hardcost comes with the constants of Debian's kernel. For another kernel, or
    with --fit, the constants are measured in a guest once and stored with that kernel.

    A price is for a typical call: an ordinary user's, successful, on files that no rule watches.
    Instructions are work, not time. A watch (-w) on a directory costs every call; whether a path is
    a directory is guessed from its name, unless --root or --paths is given.

    With --prices, the unit is nanoseconds of one machine. --fit --machine loads some hundred small
    rule sets there, one after another, times calls under each, and puts back what was there. It
    says how far predictions are off for sets that it did not fit.

    \b
    Examples:  hardcost rules cost /etc/audit/rules.d
               strace -c -f -o counts.txt make
               hardcost rules cost --histogram counts.txt stig.rules
               hardcost rules cost --measure stig.rules
               hardcost rules cost --fit --machine ssh:root@web1
               hardcost rules cost --prices ssh:root@web1 /etc/audit/rules.d
    """


@rules.command()
@click.argument("paths", nargs=-1, required=True, type=_RULES)
@click.option("--event", required=True, metavar="WORDS", help="The call, as in the example.")
@click.option("--all", "show_all", is_flag=True, help="Show each rule on its own line.")
@_machine_options
@_leave_out_option
@format_option()
@carried_out_by("hardcost.cli.rules.explain:explain")
def explain() -> None:
    """Show which rule decides about a call, and what each costs.

    WORDS are fields as in rules, with defaults in parentheses: syscall, arch (b64), exit (0) or
    success=no, auid (unset), uid (auid's) and the other ids (uid's), pid, ppid, sessionid, pers, a0
    to a3, exe, perm. Give path= for each file that the call visits, in order; filetype, obj_uid,
    obj_gid, inode and similar fields describe the path before them. perm=r or perm=w sets the flags
    of a call that opens a file.

    All paths that rules name are assumed to exist and to be different files. Instructions are
    predictions for Debian's kernel.

    \b
    Example:  hardcost rules explain /etc/audit/rules.d --event \\
                'syscall=openat arch=b64 auid=1000 exit=-13 path=/etc/shadow perm=r'
    """


@rules.command()
@click.argument("paths", nargs=-1, required=True, type=_RULES)
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
    "--fix",
    is_flag=True,
    help="Write the repairs that are certain: repeated rules are removed, a misspelt architecture"
    " or call with exactly one near name is mended, fields are put in order. What loads today is"
    " proved to record the same; what is not certain stays, with the reason.",
)
@click.option("--dry-run", is_flag=True, help="With --fix: show the repairs, and write nothing.")
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

    Several PATHs are one set of rules, in loading order. Nothing is actually loaded or run. Costs
    are predictions, in instructions on Debian's kernel.

    --fix repairs the files in place: comments, the order of lines and the files' permissions stay.
    The findings shown are then those that remain.

    The exit status is 1 if a finding is an error, which keeps rules from loading.

    \b
    Examples:  hardcost rules lint /etc/audit/rules.d
               hardcost rules lint --fix --dry-run my.rules
               hardcost rules lint --root / --format sarif my.rules
               hardcost rules lint --explain shadowed
    """


@rules.command()
@click.argument("paths", nargs=-1, required=True, type=_RULES)
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
    type=click.FloatRange(min=0),
    default=30.0,
    show_default=True,
    help="Processor time for computing the least that any set can cost; OUT is written first.",
)
@click.option("--no-least", is_flag=True, help="Do not compute the least.")
@_machine_options
@_leave_out_option
@format_option()
@carried_out_by("hardcost.cli.rules.optimize:optimize")
def optimize() -> None:
    """Make audit rules cheaper, and prove that they record the same.

    The optimiser merges the calls of similar rules, drops rules that can't decide, reorders
    conditions, narrows rules to the calls that they can match, and merges the rules of both ABIs
    where that is sound. OUT names the source lines of each rule and the assumptions of the proof.
    Costs are predicted instructions on Debian's kernel; `least` is a lower bound for any set that
    records the same.

    A watch (-w) stays unchanged, since auditctl asks the file system whether its path is a
    directory. With --root or --paths, the optimiser knows, and can make the watch cheaper.

    The exit status is 1 if no cheaper set could be proved equal.

    \b
    Example:  hardcost rules optimize /etc/audit/rules.d -o cheaper.rules
    """


@rules.command()
@click.argument("a", type=_RULES)
@click.argument("b", type=_RULES)
@click.option("--ignore-keys", is_flag=True, help="Ignore the keys of records.")
@click.option("--no-b32", is_flag=True, help="The machine has no 32-bit calls.")
@click.option("--at-least", is_flag=True, help="Allow B to record more than A, but not less.")
@click.option(
    "--ignore-raised",
    is_flag=True,
    help="Assume that nothing else, such as an LSM denial, requests records: a `never` rule then"
    " equals no rule.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.1),
    default=SECONDS,
    show_default=True,
    help="The processor time after which the proof is given up.",
)
@click.option(
    "--release",
    type=click.Choice(RELEASES),
    default=RELEASES[0],
    show_default=True,
    help="The release of Linux that defines the permissions (-p, perm).",
)
@_machine_options
@_leave_out_option
@format_option()
@carried_out_by("hardcost.cli.rules.prove:prove")
def prove() -> None:
    """Prove that the audit rules A and B treat every event alike, or show one that they do not.

    A and B are files of rules, folders that are read as augenrules does, or - for standard input.
    Alike means that the same is recorded, under the same key and with the same files. The answer
    holds whether or not a path that -w watches is a directory, unless --root or --paths says which.
    The other assumptions are printed.

    The exit status is 1 if they differ, 3 if it is unknown.

    \b
    Example:  hardcost rules prove /etc/audit/rules.d new.rules
    """

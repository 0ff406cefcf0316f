"""What the verbs of `hardcost rules` are given."""

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
        help="A folder that stands for the machine's /, to see whether a path that -w watches is a"
        " directory.",
    ),
    click.option(
        "--paths",
        "paths_list",
        type=_FILE,
        help="A list of the machine's paths, one a line, a / at the end of each directory; such as"
        " `ls -dLp PATH…` prints.",
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
    help="Go on without the lines that auditctl refuses, as it does itself below a line -i.",
)

_histogram_option = click.option(
    "--histogram",
    "histogram_file",
    type=click.Path(path_type=Path, exists=True, dir_okay=False),
    help="How often a workload makes each call: what `strace -c` or `perf trace -s` printed, or"
    ' JSON such as {"openat": 12} (default: an assumed mix of a general-purpose system).',
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
    """Lint audit rules, say what they cost, prove them equal, make them cheaper.

    PATH is a file of rules, or a folder that is read as augenrules does.

    \b
    Example:  hardcost rules lint /etc/audit/rules.d
    """


@rules.command()
@click.argument("paths", nargs=-1, required=True, type=_RULES)
@_histogram_option
@click.option("--measure", is_flag=True, help="Measure in a guest, and show both side by side.")
@click.option(
    "--fit",
    is_flag=True,
    help="Fit the constants anew for the kernel, which takes some three minutes.",
)
@click.option(
    "--kernel",
    type=click.Path(path_type=Path),
    shell_complete=completion.kernels,
    help="The kernel to price for: a bzImage, a vmlinux, or 'host' (default: Debian's).",
)
@click.option("--cpu", default="max", show_default=True, help="QEMU's processor model.")
@_machine_options
@_leave_out_option
@format_option()
@carried_out_by("hardcost.cli.rules.cost:cost")
def cost() -> None:
    """Predict what audit rules cost each system call, in instructions.

    Nothing is booted: the constants of Debian's kernel come with hardcost. For another kernel, or
    with --fit, they are measured in a guest once and kept with that kernel.

    A price is that of a typical call: an ordinary user's, successful, of files that no rule
    watches. Instructions are work, not time. What -w watches costs every call where it is a
    directory; its name says whether it is, unless --root or --paths does.

    \b
    Examples:  hardcost rules cost /etc/audit/rules.d
               strace -c -f -o counts.txt make
               hardcost rules cost --histogram counts.txt stig.rules
               hardcost rules cost --measure stig.rules
    """


@rules.command()
@click.argument("paths", nargs=-1, required=True, type=_RULES)
@click.option("--event", required=True, metavar="WORDS", help="The call, as in the example.")
@click.option("--all", "show_all", is_flag=True, help="Show each rule on a line of its own.")
@_machine_options
@_leave_out_option
@format_option()
@carried_out_by("hardcost.cli.rules.explain:explain")
def explain() -> None:
    """Say which rule decides about a call, and what the others cost it on the way.

    WORDS are fields as in rules: syscall, arch (b64), exit (0) or success=no, auid (unset), uid
    (auid's) and the other ids (uid's), pid, ppid, sessionid, pers, a0 to a3, exe, perm. path=
    stands for each file that the call visits, in order; filetype, obj_uid, obj_gid, inode and the
    like speak of the path before them. perm=r or perm=w sets the flags of a call that opens.

    Paths that rules name exist, and are files of their own. Instructions are predictions for
    Debian's kernel.

    \b
    Example:  hardcost rules explain /etc/audit/rules.d --event \\
                'syscall=openat arch=b64 auid=1000 exit=-13 path=/etc/shadow perm=r'
    """


@rules.command()
@click.argument("paths", nargs=-1, required=True, type=_RULES)
@click.option("--no-b32", is_flag=True, help="The machine lets no program make 32-bit calls.")
@click.option(
    "--root",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A folder that stands for the machine's /: look whether the paths that rules name exist.",
)
@click.option("--select", metavar="CODES", help="Look for these alone: codes joined by commas.")
@click.option("--ignore", metavar="CODES", help="Don't look for these: codes joined by commas.")
@click.option("--all", "show_all", is_flag=True, help="Show each finding in full.")
@click.option(
    "--list",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_said_and_ended("hardcost.cli.rules.lint:listed_codes"),
    help="List what is looked for.",
)
@click.option(
    "--explain",
    metavar="CODE",
    is_eager=True,
    expose_value=False,
    callback=_said_and_ended("hardcost.cli.rules.lint:explained"),
    help="Say what a finding is, why it matters, and what to do.",
)
@click.option(
    "--format",
    type=click.Choice(["text", "json", "sarif"]),
    default="text",
    show_default=True,
    help="How to print the findings.",
)
@carried_out_by("hardcost.cli.rules.lint:lint")
def lint() -> None:
    """Find faults and wasted work in audit rules.

    Several PATHs are taken for one set of rules, loaded one after the other. Nothing is loaded or
    run. Costs are predictions, in instructions on Debian's kernel.

    Exit status 1 where a finding is an error: what keeps rules from loading.

    \b
    Examples:  hardcost rules lint /etc/audit/rules.d
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
    help="The file to write; - is standard output, and the report then goes to standard error.",
)
@click.option("--force", is_flag=True, help="Write over the file if there is one.")
@_histogram_option
@click.option("--no-b32", is_flag=True, help="The machine has no 32-bit calls.")
@click.option(
    "--allow-never-first",
    is_flag=True,
    help="Put a rule of never in front, over calls that no rule asks for; what that gives up is"
    " printed.",
)
@click.option(
    "--keep-lines",
    is_flag=True,
    help="Keep each rule's line as it is, for scanners that look for lines: rules only change"
    " places (those of -A become -a), and --allow-never-first may put one in front.",
)
@click.option(
    "--least-seconds",
    type=click.FloatRange(min=0),
    default=30.0,
    show_default=True,
    help="Processor time for working out the least that any set can cost; OUT is written before.",
)
@click.option("--no-least", is_flag=True, help="Don't work out the least at all.")
@_machine_options
@_leave_out_option
@format_option()
@carried_out_by("hardcost.cli.rules.optimize:optimize")
def optimize() -> None:
    """Make audit rules cheaper, and prove that they record the same.

    Calls of like rules are merged, rules that can't decide dropped, conditions reordered, rules
    narrowed to the calls that they can match, and the rules of both ABIs joined where that is
    sound. OUT says for each rule which lines it came from, and what the proof rests on. Costs are
    predicted, for Debian's kernel, in instructions; `least` is what no set that records the same
    can go below.

    A watch (-w) stays as it is, since auditctl asks the file system whether it is a directory.
    --root or --paths says it, and the watch can be made cheaper.

    Exit status 1 where no cheaper set could be proved equal.

    \b
    Example:  hardcost rules optimize /etc/audit/rules.d -o cheaper.rules
    """


@rules.command()
@click.argument("a", type=_RULES)
@click.argument("b", type=_RULES)
@click.option("--ignore-keys", is_flag=True, help="The key of a record does not matter.")
@click.option("--no-b32", is_flag=True, help="There are no 32-bit calls.")
@click.option("--at-least", is_flag=True, help="B may record more than A, but not less.")
@click.option(
    "--ignore-raised",
    is_flag=True,
    help="Nothing else, such as an LSM's denial, asks for records: 'never' is as no rule.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.1),
    default=SECONDS,
    show_default=True,
    help="How much processor time the proof may take before it is given up.",
)
@click.option(
    "--release",
    type=click.Choice(RELEASES),
    default=RELEASES[0],
    show_default=True,
    help="The release of Linux whose permissions (-p, perm) are meant.",
)
@_machine_options
@_leave_out_option
@format_option()
@carried_out_by("hardcost.cli.rules.prove:prove")
def prove() -> None:
    """Prove that the audit rules A and B treat every event alike, or find one that they do not.

    A and B are files of rules, folders that are read as augenrules does, or - for standard input.
    Alike means: the same is recorded, under the same key and with the same files. The answer holds
    whether a path that -w watches is a directory or not, unless --root or --paths says which. What
    else it rests on is printed.

    Exit status 1 where they differ, 3 where it is not known.

    \b
    Example:  hardcost rules prove /etc/audit/rules.d new.rules
    """

"""The command `hardcost`: its verbs, and what errors become."""

from __future__ import annotations

import errno
import os
import signal
import sys
from typing import NoReturn

import click

from hardcost.cli import bill, compare, doctor, image, listing, report, run
from hardcost.cli.console import complain
from hardcost.errors import HardcostError

_INTERRUPTED = 130
_USAGE = 2
_FAILED = 3


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="hardcost")
def hardcost() -> None:
    """Say what each Linux hardening setting costs, and which you can keep for nothing.

    \b
    Example:  hardcost bill /etc/audit/rules.d --workload syscalls

    Exit status: 0 done; 1 the answer is "no"; 2 bad usage or input; 3 a trial or machine failed;
    130 interrupted.
    """


for verb in (run.run, bill.bill, report.report, compare.compare, listing.list_, doctor.doctor):
    hardcost.add_command(verb)
hardcost.add_command(image.image)


def main() -> NoReturn:
    """Run the command line and exit with its status."""
    signal.signal(signal.SIGTERM, _as_interrupt)
    try:
        status = hardcost.main(standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        status = stop.exit_code
    except click.ClickException as error:
        error.show()
        status = _USAGE
    except HardcostError as error:
        complain(error)
        status = error.exit_status
    except (KeyboardInterrupt, click.Abort):
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)  # it ends already
        print("interrupted; what was measured is saved: --resume goes on", file=sys.stderr)
        status = _INTERRUPTED
    except (BrokenPipeError, SystemExit):  # click and rich exit where nobody reads on
        _let_go_of_stdout()
        status = _INTERRUPTED
    except OSError as error:
        _let_go_of_stdout()
        complain(_failure(error))
        status = _FAILED
    sys.exit(status if isinstance(status, int) else 0)


def _let_go_of_stdout() -> None:
    """Make what is still to be written to stdout go nowhere, rather than fail once more."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _failure(error: OSError) -> HardcostError:
    """Return what the system refused as an error of ours."""
    where = f"{error.filename}: " if error.filename else ""
    full = error.errno in {errno.ENOSPC, errno.EDQUOT}
    return HardcostError(f"{where}{error.strerror or error}", hint="make room" if full else None)


def _as_interrupt(_signal: int, _frame: object) -> NoReturn:
    """Do what Ctrl-C does, also where a shell's background job has that ignored."""
    raise KeyboardInterrupt

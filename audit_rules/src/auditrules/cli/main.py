"""The command `auditrules`: runs its verbs, and turns errors into messages and exit statuses."""

from __future__ import annotations

import io
import os
import signal
import sys
import traceback
from typing import NoReturn

import click

from auditrules.cli.group import auditrules
from auditrules.model.errors import HardcostError

_FAILED, _SOFTWARE, _INTERRUPTED, _UNREAD = 3, 70, 130, 141


def main() -> NoReturn:
    """Run the command line and exit with its status."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # no file is left half written
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as it is below nohup
        signal.signal(signal.SIGHUP, signal.default_int_handler)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    sys.exit(_status())


def _status() -> int:
    """Carry out the command line, report errors, and return the exit status."""
    try:
        status = auditrules.main(prog_name="auditrules", standalone_mode=False)
        sys.stdout.flush()
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except HardcostError as error:
        _print_problems(error)
        status = error.exit_status
    except (KeyboardInterrupt, click.Abort):
        print("interrupted", file=sys.stderr)
        status = _INTERRUPTED
    except SystemExit as stop:  # click has completed a word, or the reader has closed a pipe
        status = _UNREAD if stop.code else 0
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # Python flushes once more
        status = _UNREAD
    except OSError as error:
        _print_problems(HardcostError(str(error)))
        status = _FAILED
    except Exception:  # noqa: BLE001  (1 is an answer: no crash may end with it)
        traceback.print_exc()
        status = _SOFTWARE
    return status if isinstance(status, int) else 0


def _print_problems(error: HardcostError) -> None:
    from auditrules.cli.terminal import print_problems  # not before there is need of it

    print_problems(error)

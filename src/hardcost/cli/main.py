"""The command `hardcost`: runs its verbs, and turns errors into messages and exit statuses."""

from __future__ import annotations

import contextlib
import io
import logging
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

import click

from hardcost.cli.process import guard_libraries, is_want_of_memory, report_crash
from hardcost.errors import FULL_DISK, HardcostError, InputError
from hardcost.library.terminal import leave_lost_terminal

_MEASURING = frozenset({"advise", "bill", "gate", "hotspots", "run", "trace"})
"""The verbs that have `--resume`."""

_INTERRUPTED = 130  # as shells report SIGINT: 128 and its number
_UNREAD = 128 + signal.SIGPIPE  # as of a program that SIGPIPE ended
_USAGE = 2
_FAILED = 3
_SOFTWARE = 70  # sysexits' EX_SOFTWARE
_NO_MEMORY = b"error: there is not enough memory\n  hint: `ulimit -v` may bound it\n"


def main() -> NoReturn:
    """Run the command line and exit with its status."""
    _open_streams()
    _heed_signals()
    guard_libraries()
    logging.getLogger("hardcost").addHandler(_Notes())
    try:
        status = _status()
    except MemoryError:  # perhaps while it said something else
        status = _out_of_memory()
    _discard_unread_output()
    sys.exit(status)


def _status() -> int:
    """Carry out the command line, report errors, and return the exit status."""
    try:
        status = _carry_out()
    except HardcostError as error:
        with contextlib.suppress(OSError):  # stderr has no reader; the status says it
            _complain(error)
        status = error.exit_status
    except (KeyboardInterrupt, click.Abort):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)  # it ends already
        with contextlib.suppress(OSError):
            _say_interrupted()
        status = _INTERRUPTED
    except MemoryError:
        raise
    except BrokenPipeError:
        status = _UNREAD
    except OSError as error:
        with contextlib.suppress(OSError):
            _complain(_failure(error))
        status = _FAILED
    except Exception as error:  # noqa: BLE001  (1 is an answer: no crash may end with it)
        status = _report_fault(error)
    return status


def _carry_out() -> int:
    """Carry out the command line; return the exit status."""
    try:
        _find_home()
        from hardcost.cli.command import hardcost  # noqa: PLC0415  (Ctrl-C may come meanwhile)

        status = hardcost.main(prog_name="hardcost", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as stop:
        return stop.exit_code
    except click.ClickException as error:
        with contextlib.suppress(BrokenPipeError):
            error.show()
        return _USAGE
    except SystemExit as stop:  # click has completed a word, or the reader has closed a pipe
        return _UNREAD if stop.code else 0
    return status if isinstance(status, int) else 0


def _heed_signals() -> None:
    """Make the signals that end programs act as Ctrl-C."""
    signal.signal(signal.SIGTERM, _raise_interrupt)
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN:  # as it is below nohup
        signal.signal(signal.SIGHUP, _raise_interrupt)


def _complain(error: HardcostError) -> None:
    """Print an error."""
    from hardcost.cli.console.console import complain  # noqa: PLC0415  (few commands fail)

    complain(error)


def _say_interrupted() -> None:
    """Say that the command was interrupted, and whether its results are saved."""
    saved = "; what was measured is saved: --resume continues" if _measures() else ""
    console = sys.modules.get(
        "hardcost.cli.console.console"
    )  # to be imported now, it would take long
    if console is None:
        print(f"interrupted{saved}", file=sys.stderr)
    else:
        console.emit_interrupted(f"interrupted{saved}")


class _Notes(logging.Handler):
    """Shows notes of the layers below while they work, such as on a damaged cache."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print it as a note."""
        with contextlib.suppress(OSError):  # stderr has no reader
            from hardcost.cli.console.console import note  # noqa: PLC0415  (as in `_complain`)

            note(record.getMessage())


def _out_of_memory() -> int:
    """Report the lack of memory by means that need none; return the exit status."""
    with contextlib.suppress(OSError):
        os.write(2, _NO_MEMORY)
    return _FAILED


def _report_fault(error: Exception) -> int:
    """Report an unforeseen error; return the exit status."""
    if is_want_of_memory(error):
        return _out_of_memory()
    try:
        report_crash(error)
    except OSError as unsaid:
        if is_want_of_memory(unsaid):
            return _out_of_memory()
    return _SOFTWARE


def _measures() -> bool:
    """Say whether the command is one whose trials are saved as they end."""
    return bool(_MEASURING.intersection(sys.argv[1:2]))


def _open_streams() -> None:
    """Make sure that there is something to read and write, and that no character is too much.

    Where a standard descriptor is closed, the next file that is opened would get its number, and
    with it all that is printed.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # gets the lowest number that is free: this one
            os.set_inheritable(number, True)  # noqa: FBT003  (the function's own)
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, os.fdopen(number, mode, closefd=False))
        elif isinstance(stream, io.TextIOWrapper) and mode == "w":
            stream.reconfigure(errors="replace")


def _find_home() -> None:
    """Make sure that the places of cache and store can be determined."""
    try:
        Path.home()
    except RuntimeError as error:
        raise InputError(
            "nothing says where this user's home folder is", hint="set HOME"
        ) from error


def _discard_unread_output() -> None:
    """Discard unwritable output, which Python would try to write again, and fail, as it ends."""
    for stream in (sys.__stdout__, sys.__stderr__):
        if stream is not None:
            try:
                stream.flush()
            except OSError:
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _failure(error: OSError) -> HardcostError:
    """Return a refusal of the system as one of our errors."""
    where = f"{error.filename}: " if error.filename else ""
    full = error.errno in FULL_DISK
    return HardcostError(
        f"{where}{error.strerror or error}", hint="free some space on its disk" if full else None
    )


def _raise_interrupt(_signal: int, _frame: object) -> NoReturn:
    """Act as on Ctrl-C, also in a shell's background job, which ignores it."""
    leave_lost_terminal()
    raise KeyboardInterrupt

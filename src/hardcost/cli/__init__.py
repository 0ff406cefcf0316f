"""The command line: a view of the library.

Only this folder prints and exits. Results go to stdout, all else to stderr.

`main.py` turns errors into words and statuses, `command.py` finds verbs by their files, `verb.py`
has what clusters add to the verbs of `auditrules.cli`, `process.py` prepares the process and
reports a crash.
"""

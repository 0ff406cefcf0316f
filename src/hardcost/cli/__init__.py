"""The command line: a view of the library.

Only this folder prints and exits. Results go to stdout, all else to stderr.

- `main.py`: runs the command, and turns errors and signals into words and exit statuses
- `command.py`: finds verbs by their files; other names of verbs, and "Did you mean"
- `verb.py`: which verbs leave the options for clusters out of `--help`
- `process.py`: prepares the process (memory, words), and writes the report of a crash

What every verb is to click, and how results are printed, is in `auditrules/cli/`.
"""

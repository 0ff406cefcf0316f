"""The command line: one group of verbs, which another program can mount.

Nothing here decides anything about rules, and no file imports a verb's work before it is called.

- `main.py`: the command `auditrules`: which exit status an error has
- `group.py`: the group of all verbs; `mount.py`: whose calls they make, and in whose words
- `cost.py`, `explain.py`, `lint.py`, `optimize.py`, `prove.py`: a verb's options, help and call
- `options.py`: options that several verbs have, and groups of options
- `verb.py`: what every verb is to click: the sections of its help, and fields named as options
- `results.py`: how tables, JSON, bytes and files are printed; `terminal.py`: notes and errors
"""

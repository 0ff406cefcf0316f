"""Where trials run. `machine.py` is all that anything above knows of a machine.

Nothing above asks which machine it has. What one can't do its `Capabilities` say, and a trial that
needs more is refused before anything is fetched.

- `machine.py`: the interface
- `names.py`: finds a machine by name, also one of another distribution
- `titles.py`: the machines that lists and completion show
- `options.py`: what a user may want of a machine, with defaults
- `check.py`: what `doctor` reports of one
- `restoration.py`: the result of undoing, which `machines/real/restore.py` does
"""

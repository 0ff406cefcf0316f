"""Study files: their form, reading them, and the configurations that their axes span.

Nothing here touches a machine. All mistakes of a file are reported at once, each at its line.

- `model.py`: the form of a file, its keys and their defaults
- `read.py`: reads and checks a file; scales
- `configurations.py`: spans axes, names configurations, bounds their number

`ready/` has the ready-made studies. Controls are read in `profiles/control_tables.py`; trials are
planned in `plan/factorial.py`.
"""

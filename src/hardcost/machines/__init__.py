"""Where trials run. `machine.py` is all that anything above knows of a machine.

Nothing above asks which machine it has. What one can't do its `Capabilities` say, and a trial that
needs more is refused before anything is fetched.

`machine.py` is the interface, `names.py` finds machines by name, `options.py` is what a user may
want of one, `check.py` what `doctor` reports of one.
"""

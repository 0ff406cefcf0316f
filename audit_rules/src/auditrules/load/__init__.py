"""What becomes of rules on one machine: loaded, skipped or refused, and what is known of it.

A name that only the target can resolve stays a name; a watch whose path only the target knows
stays a watch. Nothing here is loaded into a kernel.

`load.py` finds the fate of each line. `target.py` is what is known of the machine; `root.py`,
`known_paths.py` and `watched_paths.py` say what lies at its paths.
"""

"""A file for each kind of control: its types, TOML, and how it is applied and verified.

Every control is verified in the answers; one that did not take fails its trial. Nothing here
imports a machine.

`mechanism.py` is the interface and `registry.py` the list; `facts.py` (without a machine) and
`apply.py` go through it. The kinds share `replies.py`, `audit_logs.py`, `export.py` and
`ansible.py`; all other files are kinds. A kind also says which of its controls another one switches
off (`overruled_controls`).
"""

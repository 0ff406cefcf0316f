"""Named lists of controls, as files: the catalogue, and what users and benchmarks write.

Each rule of a datastream is accounted for, none as free without a reason.

`catalogue.py` loads a profile by name or file; `control_tables.py` reads the tables of controls in
it, `toml_text.py` writes them. `settings.py` is a profile of the command line, `audit_rules.py` one
of rules. `decision.py` and `decision_entry.py` are what `advise` decided, `weights.py` what keeping
a control is worth.
"""

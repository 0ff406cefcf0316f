"""SCAP datastreams: what a profile selects, its fix scripts as text, its settings.

Nothing of a datastream is run; its XML loads no entity and no network.

`profile.py` makes all controls of a profile; `rules.py` its audit rules, by `fix_scripts.py`;
`settings.py` all else; `account.py` says what became of each rule.
"""

"""SCAP datastreams: the rules that a profile selects, fix scripts as text, settings.

Nothing of a datastream is run; its XML loads no entity and no network.

- `datastream.py`: the rules that a profile selects, with values and platforms
- `tailoring.py`: a tailoring file's changes of that
- `profile.py`: all controls of a profile
- `rules.py`: its audit rules; `fix_scripts.py`: follows the scripts that write them
- `settings.py`: which scripts become sysctls, boot words, mounts and services
- `account.py`: what became of each rule; `rule_classes.py`: what classes of them have no cost
- `xml.py`: reads XML, and bounds it
"""

"""Named lists of controls, as files: the catalogue, and what users and benchmarks write.

Each rule of a datastream is accounted for, none as free without a reason.

- `catalogue.py`: loads a profile by name or file, and decides what a file or word is
- `control_tables.py`: reads tables of controls, also those of studies; `toml_text.py`: writes them
- `settings.py`: a profile of `--sysctl`, `--boot` and `--lsm`
- `audit_rules.py`: a file of the rules of a datastream or of files
- `benchmark_ids.py`: what a benchmark calls a control (data: `benchmarks/`)
- `cheaper_rules.py`: rules in a cheaper form that is proved equal
- `decision.py`, `decision_entry.py`: what `advise` decided, as a file
- `weights.py`: what keeping a control is worth, by severity or the user's weights

The profiles that come with hardcost are `catalogue/*.toml`. Each key of a table is read by its kind
in `mechanisms/`. What a word of the command line means, such as `-` or a rule, is decided in
`library/profiles.py`.
"""

"""Records become findings: pure functions.

No machine, no clock, and no file but published figures and the results that a user compares. No
result decides which times count.

- `whole_finding.py`: completes each finding once, when it is made, in a fixed order of steps
- `finding_text.py`: the store's form of a finding, and findings that earlier versions saved
- `results_file.py`: reads results that `--format json` printed, for `gate` and `compare`

The words and rounding of a finding are in `show/`.
"""

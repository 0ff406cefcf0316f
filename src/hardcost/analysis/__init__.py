"""Records become findings: pure functions.

No machine, no clock, and no file but published figures and the results that a user compares. No
result decides which times count.

`whole_finding.py` completes a finding, once, when it is made. `finding_text.py` is
the store's form of a finding, and reads those of earlier versions. `results_file.py` reads the
documented JSON back.
"""

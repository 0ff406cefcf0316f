"""The rule that auditctl 3.0.9 makes of words, and the words for a rule.

What auditctl and the kernel refuse is refused here, for the same reason. No file is read here.

- `translate.py`: a line's words into a kernel's rule: the options, most fields, longest key
- `field_values.py`: names and numbers of all kinds of fields, which fields and architectures there
  are, the nearest name for one that is unknown
- `field_rules.py`: which lists and operators a field allows; classes of calls
- `write.py`: a kernel's rule as a line, and as `auditctl -l` lists it

Options that are no rules are read in `read/control_lines.py`; the split into words is
`model/rule.py`'s.
"""

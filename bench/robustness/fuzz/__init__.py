"""Fuzzing of all that reads what a user, a guest or a damaged disk hands over.

An input that crashes, hangs or fills the memory of a reader is a fault of the reader.

`targets.py` lists the readers, and which of their errors are right. `seeds.py` has good inputs of
each kind, `mutate.py` the ways to damage them. `campaign.py` runs a target: the longest time and
most memory. `__main__.py` has the options. Audit rules have `robustness/fuzz_rules.py` besides.
"""

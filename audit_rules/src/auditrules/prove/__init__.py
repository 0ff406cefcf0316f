"""Whether two sets of rules record the same: a proof, a counterexample, or "unknown".

A counterexample is checked against the semantics before anybody sees it. Nothing is assumed that
the answer does not list.

- `prove.py`: the course of a proof; `DEFAULT_SECONDS`, the bound of processor time
- `relation.py`: what is claimed of two sets (keys, 32-bit calls, `at_least`) with its defaults, a
  difference, an assumption
- `call_classes.py`: calls that the rules treat alike, and what remains of the rules for them
- `formulas.py`: conditions as formulas over an unknown event
- `few_changes.py`: the rules by which two lists are compared that have most in common
- `outcome.py`: what a set makes of that event, and when two sets differ
- `solver.py`: z3, its steps and its first attempt
- `other_lists.py`: the lists task, user, exclude, filesystem and io_uring
- `watch_kinds.py`: watches that may be of files or directories; `unknown_ids.py`: users and groups
  by name
- `example.py`: a counterexample, as ordinary as can be; `event_text.py`: its words
- `assumptions.py`: what an answer rests on, in words
- `result.py`: the answer with both sets
"""

"""Which trials answer a question: a study, a bill, a change, several bills.

A plan is plain data, the same for the same input. Nothing here touches a machine.

`factorial.py` plans a study, `leave_one_out.py` a bill, `several.py` bills side by side,
`change.py` a gate; `placebo.py`, `first_rule.py` and `perturbations.py` are parts of these.
"""

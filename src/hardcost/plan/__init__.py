"""Which trials answer a question: a study, a bill, a change, several bills.

A plan is plain data, the same for the same input. Nothing here touches a machine.

- `plan.py`: the plan as a value
- `factorial.py`: a study; the order in which trials start, and blocks of rounds
- `leave_one_out.py`: a bill, and how many controls it may have
- `several.py`: bills side by side; `change.py`: a gate
- `baseline.py`: words on what a profile is compared with
- `placebo.py`: how many placebos, and of which kinds
- `perturbations.py`: how often exact trials are perturbed
- `first_rule.py`: the trials for the price of having any rule

More rounds of timed trials are added in `measure/precision.py`. `analysis/choice/` decides what
`advise` measures.
"""

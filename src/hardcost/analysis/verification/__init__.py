"""A bill verified in groups: predictions are weighed together, and only what is odd by itself.

Like weighing coins with an exact balance: if a group that is left out saves what was predicted of
its controls, all of them cost what was predicted. A prediction that no trial confirmed is never a
cost.

- `groups.py`: the groups: any two controls are apart in one of them at least; what could escape
- `weighing.py`: the coroutine that asks for groups to be left out, and finds those that are odd
- `expectations.py`: what groups are expected to save, which are off, and by how much is chance
- `decoding.py`: which control, or which two, explain the groups that are off
- `savings.py`: the predicted savings: by earlier bills, by the cost model, or as 0

The trials of a group are made by `plan/leave_one_out.py`, the items of both kinds by
`analysis/bill/itemise.py`.
"""

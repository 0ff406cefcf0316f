"""The ways to a bill: single trials, a search, several profiles side by side.

What two ways share is here once. Which way is taken is decided in `library/bill.py`.

- `single.py`: each control left out, and alone; counts beside times; rounds to begin with
- `verification.py`: groups left out instead, where costs are predicted; the suspects
- `earlier.py`: what earlier bills in the store say that controls cost, by which trials are chosen
- `search.py`: a search for culprits: how many kernels it may build by default, what may be switched
- `several.py`: several profiles in one run
- `budgets.py`: searches for what a budget leaves out, as advice does
- `weights.py`: a user's histogram or one call, by which controls are ranked
- `prediction.py`: the cost model's predictions and lint, of the kernel that was measured
- `defaults.py`: marks what is a default anyway (data: `profiles/kernel/`)

The questions of a search are in `plan/search/`; `measure/search.py` carries them out. When a search
is worth it is decided in `plan/search/culprits.py`, a bill's numbers in `analysis/bill/`.
"""

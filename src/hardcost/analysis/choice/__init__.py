"""What to give up for a budget: a model of costs, the best choice, the frontier.

A choice is a proposal until it was measured.

`search.py` and `frontier.py` are coroutines that ask for choices to be measured. `tradeoff.py` is
the problem as values, `budgeted_metrics.py` the costs and limits that are shown, `cost_model.py` a
linear program, `knapsack.py` a mixed integer program. Nothing here moves the budget:
`library/least_budget.py` finds the least one that keeps anything, and `analysis/bill/budget.py`
rounds it.
"""

"""The controls to give up for a budget: a model of costs, the best choice, the frontier.

A choice is a proposal until it was measured.

- `search.py`: a coroutine that asks for choices to be measured: how many at most, when it ends
- `frontier.py`: the same for the levels of the frontier, and by which factors they multiply
- `tradeoff.py`: the problem as values: what was measured, what has to be kept together
- `budgeted_metrics.py`: the costs and limits that are shown
- `cost_model.py`: fits costs of controls and groups to what was measured: a linear program
- `knapsack.py`: the choice worth most, a mixed integer program, and the seconds it may take

Nothing here moves the budget: `library/least_budget.py` finds the least one that keeps anything,
and `analysis/bill/budget.py` rounds it. What a control is worth is in `profiles/weights.py`.
"""

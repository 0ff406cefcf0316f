"""What to give up for a budget: a model of costs, the best choice, the frontier.

A choice is a proposal until it was measured.

`search.py` and `frontier.py` are coroutines that ask for choices to be measured. `tradeoff.py` is
the problem as values, `cost_model.py` a linear program, `knapsack.py` a mixed integer program.
Nothing here moves the budget: the least one that keeps anything is found in `library/advise.py`,
and rounded in `analysis/bill/budget.py`.
"""

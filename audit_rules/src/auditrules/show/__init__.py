"""Results about audit rules, as text and as JSON.

Nothing here decides anything about rules.

- `cost.py`, `explain.py`, `lint.py`, `optimize.py`, `prove.py`: of each verb, the models of its
  JSON, its sentences and tables; how many rows and names are shown
- `fit.py`: prices that were measured, and what a prediction by them is worth
- `parts.py`: parts of JSON and notes that they share
- `errors.py`: an error's problems, line by line
- `github.py`: output made harmless in a job on GitHub, and its annotations

How results are printed is decided in `cli/results.py`.
"""

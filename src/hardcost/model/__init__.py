"""The values that everybody passes on: roles, workloads, observations, requests.

Nothing here reads, runs, prints or estimates. What is known as such a value is passed on as one;
`str` makes its text, and one function beside it reads it.

- `role.py`: roles, and their text
- `workload.py`: workloads and metrics by name, and their text
- `request.py`: the base of requests, which checks types and ranges, and words what is wrong
- `document.py`: how a field is written as JSON, and the version
- `call_tree.py`: a trial's call tree, and its check
- `observation.py`: what a recorder saw in a trial
- `accounts.py`: what became of a benchmark's rule

Findings are `finding/`, controls `controls/`, answers of the probe `protocol/`.
"""

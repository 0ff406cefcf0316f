"""The values that everybody passes on: roles, workloads, observations, requests.

Nothing here reads, runs, prints or estimates. What is known as such a value is passed on as one;
`str` makes its text, and one function beside it reads it.

A file for each kind of value; `document.py` says how a field is written as JSON.
"""

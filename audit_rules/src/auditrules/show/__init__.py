"""What was found about audit rules, as text and as JSON.

Nothing here decides anything about rules.

A file for each verb, with the models of its JSON, its sentences and tables; `fit.py` is for prices
that were measured, `parts.py` is what they share, `errors.py` and `github.py` are for any text.
"""

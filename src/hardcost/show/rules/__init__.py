"""What was found about audit rules, as text and as JSON.

Nothing here decides anything about rules.

A file for each verb, with the models of its JSON, its sentences and tables; `fit.py` is for `cost
--fit`, `parts.py` is what they share.
"""

"""Input of a person: options shared by verbs, completion, and requests made of them.

Each option is declared once.

- `options.py`: options that several verbs share, with their help and defaults; ages such as 30d
- `requests.py`: makes values of a request out of options, and checks names of files
- `completion.py`: what TAB offers

An option of one verb is in its file in `cli/verbs/`. An option that is not given leaves the default
to the request in `library/`, above all `library/measurement.py`, whose None leaves it to others:
that folder says to whom. Budgets and percentages are read in `library/percentages.py`, a profile's
name in `library/profiles.py`.
"""

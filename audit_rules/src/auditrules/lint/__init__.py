"""Faults and wasted work in rules: diagnostics, each with its location and its remedy.

A claim is certain or is not made.

- `findings/`: a file for each diagnostic, named by its code
- `checks.py`: the list and order of all diagnostics, and looking for them
- `check.py`: what a diagnostic's file must have, and the parts of its documentation
- `context.py`: what each diagnostic is given; `LintOptions` with its defaults
- `diagnostic.py`: levels, and a diagnostic, its cost and its repair as values
- `prices.py`: what a diagnostic costs, and for which typical calls that is said
- `supersets.py`: which rules match wherever another one does
- `record_types.py`: the types of records that rules of `user` and `exclude` name
- `wording.py`: rules and calls in words; how many names are shown
- `sarif.py`: diagnostics as SARIF; `markdown.py`: the page docs/lint.md

Comments that leave a diagnostic out are read in `read/ignore_comments.py`. Repairs of whole files
are proved in `repair/`. A line that can't be loaded is judged in `read/`, `auditctl/` and `load/`;
`findings/cannot_load.py` only reports it.
"""

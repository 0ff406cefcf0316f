"""The calls: a frozen request in, a finding out.

Nothing here prints, exits, or names an option. A request is checked before anything is fetched or
booted. Each default of a call is in its request; where a field is None, what decides is below.

- `advise.py`, `bill.py`, `compare.py`, `gate.py`, `hotspots.py`, `run.py`, `trace.py`: a call of
  that name, its request and its defaults
- `measurement.py`: the request of all that measure: machine, jobs, start, the usual workload; a
  bill's instrument
- `profiles.py`: finds the profiles that are named, and checks their controls
- `price.py`: what single controls cost, from lists, or predicted (`price_rule.py`);
  `pricelist.py`: builds a list; `price_overview.py`: all prices, for pages
- `here.py`: what the hardening in force on a machine costs (`here_prices.py`), measured on the
  machine's own kernel (`here_fit.py`), and what of it a policy accepts (`here_policy.py`);
  `compare_here.py`: two such answers
- `percentages.py`: reads budgets and limits such as `open<=5%`
- `precision.py`: how long `--precision` may take, and where it is refused
- `choices.py`: measures what `advise` asks
- `least_budget.py`: the budgets that `advise` offers where nothing fits
- `doctor.py`, `images.py`, `kernels.py`, `listing.py`: what the verbs of these subjects show; how
  much free disk `doctor` wants
- `saved_run.py`: finished runs of a store
- `interrupt.py`, `terminal.py`: end a run in good order

`bills/` and `gates/` have the ways to carry out `bill.py` and `gate.py`. Decided elsewhere: seconds
a trial may take, in `measure/execute.py`; repetitions of exact trials, in `plan/perturbations.py`;
rounds of timed ones, in `measure/precision.py`; placebos, in `plan/placebo.py`; configurations of a
search, in `library/bills/search.py`.
"""

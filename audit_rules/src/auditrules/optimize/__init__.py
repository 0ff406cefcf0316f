"""A cheaper set of rules that records the same.

No set leaves here without a proof.

- `optimize.py`: the search: order of changes, when one is kept; `OptimizeOptions` with defaults
- `changes.py`: the changes that are tried, and the least saving without `thorough`
- `allowance.py`: the bound: no call may pay more than under the original
- `decided_calls.py`: what calls pay that rules decide about, as lines are joined
- `prices.py`: what a rule and a set cost for every call; the tolerance
- `set_costs.py`: the walks of calls under a set, each condition tested once for each kind of call
- `similar.py`: pairs of rules that might become one; `meeting.py`: rules that might meet a rule, or
  match whatever it does; `allowed_values.py`: looks rules up by the numbers that they allow
- `reachable_calls.py`: which calls a rule can match
- `implication.py`: whether a rule matches whatever another does; needless conditions
- `lines.py`: where each rule came from, and which order must be kept
- `never.py`: the `never` rule in front, and what it gives up
- `permissions.py`: rules narrowed to permissions
- `signals.py`: keeps the receivers of signals recorded
- `releases.py`: the proof for each release of Linux
- `result.py`: the result and what `thorough` would save more; `reasons.py`: why a changed line
  records the same
- `output.py`: the file that is written: lines, origins, comments

How long a proof may take is decided in `prove/prove.py`. Only the order of one line's fields is in
`repair/field_order.py`.
"""

"""Additions of `hardcost rules` to the rules engine: rules of profiles, and measured costs.

What can be said of rules without a machine is said in `auditrules`.

- `profile_caller.py`: which names are profiles, and their lines of rules
- `cost.py`: prices by which costs are predicted, fitted or measured beside
"""

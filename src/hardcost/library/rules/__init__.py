"""What `hardcost rules` adds to the rules engine: rules of profiles, and measured costs.

What can be said of rules without a machine is said in `auditrules`.
"""

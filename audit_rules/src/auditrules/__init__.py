"""What can be said of Linux audit rules without loading them: what they mean, cost and equal.

The real kernel is right: where it differs from these semantics, they are corrected. Nothing here
imports hardcost, boots anything, or decides by what a path is called (a price may, and says so).
"""

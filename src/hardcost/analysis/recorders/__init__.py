"""What recorders saw, summed over the trials of a configuration.

Nothing here is a cost.
"""

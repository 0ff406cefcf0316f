"""A file for each verb: its options, its help, and request, call, show.

A file here imports its work inside its function, so that help and TAB come at once.
"""

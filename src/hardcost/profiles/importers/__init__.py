"""Profiles out of what other tools write.

Nothing that is read is executed. One faulty entry does not refuse a file.
"""

"""Files that a user names: read within a bound, written whole or not at all.

No pipe is waited for and no device fills the memory. Nothing here knows what a file holds.
"""

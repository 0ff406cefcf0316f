"""Files that a user names: read within a bound, written whole or not at all.

No pipe is waited for and no device fills the memory. Nothing here knows what a file holds.

`bounded.py` reads, and decides which kinds of files are refused; the bound is its caller's (of
rules in `read/parse.py`). `whole.py` writes beside the file and renames, following links and
keeping owner and mode.
"""

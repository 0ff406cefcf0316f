"""The text that the emulator's plugin writes, read: stacks, schedules, lines of a function.

Nothing here knows how a guest is started.

`stacks.py` reads counts by stack, `schedule.py` who ran and who woke whom, `lines.py` the names of
pieces of code that belong to a line. The plugin writes them in `crates/tcg-plugin`.
"""

"""The text that the emulator's plugin writes, read: stacks, schedules, lines of a function.

Nothing here knows how a guest is started.
"""

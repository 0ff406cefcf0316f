"""Requests to the probe and its answers, and the text of the emulator's plugin.

What a guest says is hostile until it is a type of this folder. A request's JSON is part of a
trial's identity: a new field is left out where it says nothing.

`ask.py` makes requests, with defaults; `answer_lines.py` reads the bytes that come; `boot.py` is
what a machine is asked to boot.
"""

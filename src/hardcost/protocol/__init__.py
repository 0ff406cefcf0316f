"""Requests to the probe and its answers, and the text of the emulator's plugin.

What a guest says is hostile until it is a type of this folder. A request's JSON is part of a
trial's identity: a new field is left out where it says nothing.

- `requests.py`: a type for each request, which fields are left out, the ids of users
- `ask.py`: makes requests, with defaults: limits, periods of watches
- `answers.py`: a type for each answer, and how one is found
- `answer_lines.py`: reads the bytes that come, and the protocol's version
- `types.py`: their common base, and bounds of numbers
- `boot.py`: what a machine is asked to boot, and what its kernel says of that

The probe carries requests out: `crates/probe`. Messages of the keeper are in
`machines/real/keeper_messages.py`.
"""

"""The rule that decides about one event, and the cost of the others on the way.

Nothing here decides by itself: the semantics do.

`read_event.py` reads the words of `--event` and has their defaults, `event_values.py` reads one
value. `explain.py` walks the rules and prices each. Which records the call has is decided in
`kernel/records.py`.
"""

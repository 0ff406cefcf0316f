"""Which rule decides about one event, and what the others cost it on the way.

Nothing here decides by itself: the semantics do.
"""

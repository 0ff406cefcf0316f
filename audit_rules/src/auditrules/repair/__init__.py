"""Repairs of lines that lint found at fault.

A repair is written only if what loads today records the same after it.

- `repairs.py`: which diagnostics are repaired (`CODES`), and the proof of which repairs are safe
- `spelling.py`: the near name of an unknown call or architecture, and how near it must be
- `field_order.py`: `arch` before the calls, cheap conditions before costly ones
- `line_words.py`: a line's options with their spans
- `result.py`: what was found and repaired, as values

A remedy in words is in its diagnostic's file; a cheaper set is `optimize/`'s.
"""

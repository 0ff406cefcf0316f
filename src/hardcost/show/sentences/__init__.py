"""The words of a report: the answer first, in sentences of at most three numbers.

A terminal and a page say the same sentences.

- `answer.py`: a bill's answer, and how many controls are ranked on the first screen
- `run.py`: the answer of a study, and of a comparison
- `choice.py`: that of `advise`; `advice.py`: what a bill's budget leaves out
- `gate.py`, `hotspots.py`, `trace.py`: those of the others
- `statement.py`: an answer as a value
- `verification.py`: which costs were verified in groups, and what could escape
- `amounts.py`: units, and growth in words: "2.1 times as expensive"
- `caveats.py`, `single_draws.py`: marks at numbers, and their notes
- `failures.py`: failed trials with the end of their log; controls that were not measured
- `steps.py`: changes from level to level; `search_steps.py`: how a search went;
  `time_and_count.py`: where the two disagree
"""

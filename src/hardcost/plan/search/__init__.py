"""The search for the controls that are to blame: questions, and conclusions from answers.

It asks the same questions for the same answers, and under an exact instrument none twice.

- `group_testing.py`: the whole search, a coroutine, and the most that it may ask
- `culprits.py`: what is searched; turns questions into trials; when a search beats single trials,
  by assumed seconds of builds and boots
- `bisection.py`: where along a chain a cost arises
- `blame.py`: confirms a suspect; `partners.py`: the controls that it needs
- `noise.py`: how often to measure under noise, and which difference counts
- `lattice.py`: which sets of controls can be on
- `measurements.py`: what was measured, the limit, the log; `state.py`: what the parts share
- `questions.py`: the input, questions and results as values; `wording.py`: the log's words

The default limit of kernels is in `library/bills/search.py`; `measure/search.py` measures.
"""

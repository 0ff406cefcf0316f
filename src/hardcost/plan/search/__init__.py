"""The search for the controls that are to blame: questions, and what follows from answers.

It asks the same questions for the same answers, and under an exact instrument none twice.

`group_testing.py` is the whole search, a coroutine; `culprits.py` turns its questions into trials;
the other files are its parts, from `questions.py` up.
"""

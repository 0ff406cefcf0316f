"""Fuzzing of all that reads what a user, a guest or a damaged disk hands over.

An input that crashes, hangs or fills the memory of a reader is a fault of the reader.
"""

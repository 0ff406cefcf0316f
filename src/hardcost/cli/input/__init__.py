"""What a person types: options shared by verbs, completion, and requests made of them.

Each option is declared once.
"""

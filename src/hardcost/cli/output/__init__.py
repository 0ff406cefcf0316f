"""What verbs have in common after the call: findings shown, files written, plans printed.

Nothing here measures or decides.

`documents.py` lists which verb prints which JSON document, and makes their schema.
"""

"""The command line: one group of verbs, which another program can mount.

Nothing here decides anything about rules, and no file imports a verb's work before it is called.

`group.py` is the group, with a file for each verb; `mount.py` says whose calls they make,
`main.py` is the command `auditrules`. The other files are what verbs share.
"""

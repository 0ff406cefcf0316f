"""Study files: their form, reading them, and the configurations that their axes span.

Nothing here touches a machine. All mistakes of a file are reported at once, each at its line.

`model.py` documents the form, `read.py` reads a file and checks it, `configurations.py` spans the
axes and proposes the name that was meant, `ready/` has the ready-made studies.
"""

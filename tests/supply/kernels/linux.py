"""A source as small as one can be of which a kernel is built: its Makefile does what Linux's does.

What comes out of `vmlinux` is the text of audit.c, so that a test sees of what it was built.
"""

from __future__ import annotations

from pathlib import Path

MAKEFILE = """VERSION = 6
PATCHLEVEL = 1
SUBLEVEL = 9
tinyconfig olddefconfig:
	(echo '# Automatically generated file'; cat Kconfig) >$(O)/.config
vmlinux:
	! grep nonsense kernel/audit.c
	mkdir -p $(O)/include/config
	echo 6.1.9-hardcost >$(O)/include/config/kernel.release
	echo '  CC      kernel/audit.o'
	cp kernel/audit.c $(O)/vmlinux
	touch $(O)/System.map
"""

AUDIT = "one\ntwo\nthree\nfour\nfive\n"

THREE = """From: A Developer
Subject: [PATCH] audit: say three otherwise

What is said of a hunk is no hunk:
 @@ -1 +1 @@

---
 kernel/audit.c | 2 +-

diff --git a/kernel/audit.c b/kernel/audit.c
index 1111111..2222222 100644
--- a/kernel/audit.c
+++ b/kernel/audit.c
@@ -2,3 +2,3 @@ one
 two
-three
+THREE
 four
--\x20
2.39.2
"""


def make(folder: Path) -> Path:
    """Make the source in a folder, and return that."""
    for name, text in {
        "Makefile": MAKEFILE,
        "Kconfig": "CONFIG_A=y\n",
        "arch/x86/Kconfig": "",
        "scripts/Makefile.build": "",
        "kernel/audit.c": AUDIT,
        "include/linux/audit.h": "",
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def changed(name: str, before: str, after: str) -> str:
    """Return a patch that replaces one line by another, the only one of its file."""
    return f"--- a/{name}\n+++ b/{name}\n@@ -1 +1 @@\n-{before}\n+{after}\n"


def added(name: str, *lines: str) -> str:
    """Return a patch that adds a file."""
    body = "".join(f"+{line}\n" for line in lines)
    return f"--- /dev/null\n+++ b/{name}\n@@ -0,0 +1,{len(lines)} @@\n{body}"

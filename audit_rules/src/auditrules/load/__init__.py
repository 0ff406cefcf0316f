"""The fate of rules on one machine: loaded, skipped or refused; and facts about the machine.

A name that only the target can resolve stays a name; a watch whose path only the target knows stays
a watch. Nothing here is loaded into a kernel.

- `load.py`: the fate of each line, and where loading ends; most deletions by key
- `loaded_set.py`: a set as it was read and as one machine loads it, with guesses about watches
- `target.py`: what is known of the machine: users, paths, release, auditctl, and the defaults
- `root.py`: a file system below a folder, which look-ups never leave
- `known_paths.py`: which paths are directories, by a list or a folder
- `watched_paths.py`: which usual paths are directories where nothing else says it
- `preflight.py`: whether rules load where the file system is accessible: missing paths

Which rule the kernel takes for a duplicate is decided in `model/kernel_lists.py`.
"""

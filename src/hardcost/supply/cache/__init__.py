"""The cache: folders named by their content, each with a manifest.

An entry enters by renaming, and is compared with its manifest once a run. No link is followed.

`cache.py` is the cache; `leftovers.py` cleans up what killed runs left; `folders.py` locks, moves
and removes; `setup_times.py` keeps how long set-up took; `built_kernels.py` keeps the results of
builds.
"""

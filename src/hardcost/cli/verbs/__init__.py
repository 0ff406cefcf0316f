"""A file for each verb: its options, its help, and request, call, show.

A file here imports its work inside its function, so that help and TAB come at once.

- `advise.py`, `bill.py`, `gate.py`, `hotspots.py`, `run.py`, `trace.py`, `compare.py`, `doctor.py`:
  call the file of the same name in `library/`
- `report.py`: `library/saved_run.py`; `list_.py`: `library/listing.py`
- `kernel.py`, `image.py`: `library/kernels.py`, `library/images.py`
- `here.py`, `price.py`, `pricelist.py`: the files of the same names in `library/`
- `runs.py`: `store/check.py` and `store/removal.py`; `restore.py`: `machines/names.py`
- `export.py`: `profiles/export/`, `mechanisms/export.py`, and workflows of `show/exports/`
- `import_.py`: `profiles/importers/`, written by `cli/output/import_profile.py`
- `cluster.py`, `worker.py`: `measure/workers/`; `schema.py`: `cli/output/documents.py`
- `rules.py`: mounts the verbs of `auditrules/cli/`; the options of measured costs

Options that several verbs have are in `cli/input/options.py` and `auditrules/cli/options.py`. A
default that help shows, such as that of `--resolution`, is the request's in `library/`, written
again: change both.
"""

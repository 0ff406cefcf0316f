"""The common work of verbs after the call: findings shown, files written, plans printed.

Nothing here measures or decides.

- `finding.py`: shows a finding as text, JSON or data, and writes its HTML report
- `two_answers.py`: shows two answers of `hardcost here` side by side
- `dry_run.py`: the plan and the expected time that `--dry-run` prints
- `documents.py`: which verb prints which JSON document, and their schema
- `export_file.py`: writes exports to files and folders; formats by a file's ending; `--force`
- `import_profile.py`: writes imported profiles, and says what became of each rule
- `several_machines.py`: `hardcost run` with several `--machine`

Words, tables and pages are made in `show/`.
"""

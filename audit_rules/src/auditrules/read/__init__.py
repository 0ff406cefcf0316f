"""Lines, files and folders of rules, read as auditctl and augenrules read them.

One faulty line never refuses a file: it is a fault with its location, and the others are read.

- `parse.py`: files and folders, joined lines; the largest file, most lines, binary files
- `line.py`: one line: which words make it a rule, and what its words do wrong
- `control_lines.py`: lines that are no rules (-e, -b, -f, -r, -i, -c): their values and bounds
- `folder.py`: augenrules' order of files and lines
- `ignore_comments.py`: the form of `# hardcost: ignore=CODE`; on which line `--generate-ignore`
  writes one, and with which codes, is decided by the call, in `library/lint.py`
- `rule_text.py`: whether a word is an audit rule

Fields and values are read in `auditctl/`, the longest line is in `model/rule.py`.
"""

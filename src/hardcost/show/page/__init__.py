"""A finding as one HTML file that loads nothing.

Each script is ours, and the page's policy allows it by its hash. All else is escaped.

`page.py` puts it together with `templates/`. `choice.js` and `whatif.js` become one script, by
`what_if.py`; `flames.js` zooms in what `flame_graph.py` laid out.
"""

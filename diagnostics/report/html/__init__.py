"""The page beside report.md: one file that needs no network, reads without JavaScript, and believes nothing it shows.

`document.py` is the shell of every page: it hides nothing itself, but whatever a template prints is cut, made visible
and escaped there. `run_page.py` has a watched job as prose and lanes, `markdown_page.py` any other report.md.
`lanes_picture.py` is geometry, `stack_tree.py` merges stacks. What a page shows stands in `templates/`.
"""

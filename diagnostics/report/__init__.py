"""Reports as data, page, folder and terminal lines. Knows no analysis: what it shows is given to it.

`folder.py` writes the report of checks, `page.py` that of a run; a section is one file with an ORDER.
"""

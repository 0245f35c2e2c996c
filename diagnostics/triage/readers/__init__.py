"""One source of runs a file, found by its KIND: `find(folder)` names what it can read, `read(path)` gives RunTraces.

`OWNS = True`: the folder is one run, and nothing below it is looked at again. A reader raises OSError or ValueError
where a file cannot be read; the engine says so and goes on.
"""

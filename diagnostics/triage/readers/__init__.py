"""One source of runs a file, found by its KIND: `find(folder)` names what it can read there, `read(path)` gives Traces.

`OWNS = True`: the folder is one run, and nothing below it is looked at again. A reader raises OSError or ValueError
where a file cannot be read; the engine says so and goes on.
"""

"""A program run on values that are not known: which object each call is made on, through classes, helpers and files.

`executions(project)` runs every script of a project once, from its main block on: classes are made, methods entered,
callbacks and decorators called, both ways of a test taken that nothing decides. What calls leave the project are
events, in order, each with the objects it was given, where it was, in which loops, tests, handlers and `with` blocks. A
value keeps what it was made of, so that a rule can ask where it comes from (`values.py`). Nothing is guessed: what is
not known is `Unknown`, and a run that grows too large is given up.

May import static/program. A new question about a program is a file in `static/executed`, no change here; a library
function whose meaning matters to values goes into `library.py`.
"""

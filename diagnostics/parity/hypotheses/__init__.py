"""One file a cause for which N ranks compute something else than one process, Y1xx: CODE, NAME, `explain(measured)`.

Asked in the order of their codes, causes before effects; the first that is proved is told first.
"""

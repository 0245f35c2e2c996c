"""What each rank did when, on one clock: the lanes of a page and the traces for other tools.

`trace_builder.py` makes a JobTrace of a Job; `behaviour.py` says which ranks behaved alike, so that one lane stands for
many. A new kind of mark: a field in core/job_trace.py, filled here, drawn in report/html/, written in export/.
"""

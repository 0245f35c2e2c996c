"""What runs inside each watched process. Self-contained: syntax of Python 3.8, standard library only.

In a job this folder is the private package `_ups_doctor_agent` (see site/sitecustomize.py), so that a job's
own package called `diagnostics` stays the job's. Nothing here may raise, block, print or change a result.
"""

"""`ups-doctor attach` and `stacks`: a job that runs without the doctor, looked at from outside.

`engine.py` leads: find the job, take looks, judge, show. It captures with `supervisor/capture`, judges with
`dynamic/stall` and diagnoses with `diagnosis`.
"""

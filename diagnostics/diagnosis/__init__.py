"""From a job's record to its verdict: which signatures match, which is the root, what the report says.

Here: the contract of a signature (`signature.py`), the engine, arbitration (`verdict.py`) and the making of the report.
Signatures stand one a file in folders by theme. They read the job through `dynamic/` and its sources through `static/`;
none imports another. To add one: a file in its theme with a CODE, and its test in tests/diagnosis.
"""

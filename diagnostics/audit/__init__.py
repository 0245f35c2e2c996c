"""`ups-doctor audit`: a linter for distributed training. Files in, violations out.

Here: the contract of a rule (`rule.py`), settings, workers, cache, fixes, and `run.py` and `engine.py`, which lead. The
rules stand one a file in folders by theme, whose first digit they share; `output/` shows violations. A rule imports the
contract, `static/` and core, never another rule, the disk or `dynamic/`. To add one: a file in its theme, a case in
tests/audit/rules/cases.
"""

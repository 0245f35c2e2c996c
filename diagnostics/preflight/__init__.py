"""`ups-doctor preflight`: staged probes from the host to a dry run.

Here: the contract of a probe (`probe.py`), the plan and `engine.py`, which leads. Probes stand one a file in folders by
stage and are found by their CODE; they see the machine through the contract only. To add one: a file in its stage, and
its test in tests/preflight.
"""

"""`ups-doctor parity`: proves that N ranks compute what one process computes, or says by which factor they do not.

Here: what is asked (`request.py`), what was measured (`measured.py`), the contract of a hypothesis (`hypothesis.py`),
the runs (`runs.py`), and `engine.py`, which leads. Hypotheses stand one a file in `hypotheses/`: each takes one cause
and says whether the numbers prove it; none imports another. The runs' processes are children/tasks/parity.py with
agent/parity/ inside. To add a hypothesis: a file with a CODE, and its test in tests/parity.
"""

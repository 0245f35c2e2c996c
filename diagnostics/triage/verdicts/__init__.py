"""One verdict a file, found by its ORDER: `judge(run, known)` returns a Judgement with its evidence, or None.

The first that speaks holds, so that a later one may take for granted what an earlier one has ruled out.
"""

"""What the steps of a run consist of, by rank, and which cause makes them slow. Pure.

`steady.py` chooses the steps that count and `split.py` takes them apart; each other file asks one question of them:
who is waited for, what the loader lacks, whether there are too many threads, what grows. Each answer says what it costs
in shares of a step, as measured, and what the fix would give, which is an estimate.
"""

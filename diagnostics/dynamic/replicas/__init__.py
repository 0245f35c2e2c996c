"""Ranks that should hold the same model: what the samples of their parameters and gradients say, side by side. Pure.

`replicas.py` finds who is comparable, `sharing.py` what the ranks exchanged from Python, and each other file asks one
question.
"""

"""The vocabulary of everybody: findings, errors, frames, failure classes, thresholds, redaction, wording, whole files.

Imports the agent's shared tables and nothing else of ours.
"""

"""What `tasks/parity.py` runs: the loop around a user's model, and the comparison of what was recorded. Torch only."""

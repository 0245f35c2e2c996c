"""What a round of training does to gradients and rates: cleared, clipped, scaled, divided, scheduled by epochs.

One question a file, pure. May import agent/shared, what stands beside this folder, static/execution and static/program.
"""

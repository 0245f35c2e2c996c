"""What the operator is trained on beside the error of one step: one term a file, each one number a sample.

`horizon` says how much of what is asked for at which step of the training. Imports losses and configuration, no
stage; a term more is a file here, a key of `ObjectiveConfig`, and a line in `ups.stages.operator`.
"""

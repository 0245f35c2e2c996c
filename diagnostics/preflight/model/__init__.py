"""Probes P7xx and P8xx: one step of the model, and a dry run of the training."""

"""Probes P7xx and P8xx (stage dry-run): one step of the model, and a dry run of the training."""

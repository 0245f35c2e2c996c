"""The scan: files, worker processes, findings, their words and how they are shown. `engine.py` leads."""

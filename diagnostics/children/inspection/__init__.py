"""What `inspect_model.py` is made of: loading, watching, stepping. Torch and the standard library only."""

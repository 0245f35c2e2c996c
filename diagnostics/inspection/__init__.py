"""`ups-doctor inspect`: one training step of a model in a child process, and what it shows. `engine.py` leads."""

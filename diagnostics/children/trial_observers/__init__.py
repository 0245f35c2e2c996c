"""What is written down of a trial: its calls, modules, values, and where they went wrong."""

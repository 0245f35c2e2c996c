"""One click command a file, found by their names. Only they, the command line and `core/console.py` know click."""

"""The protocol with a user's trainer: `python -m MODULE describe|data|model|...`, and what it answers.

Imports core and machine. A new verb's answer goes into `answers.py`, read defensively: a trainer may be broken.
"""

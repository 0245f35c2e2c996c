"""The only code of the doctor that touches the machine.

Here: the contract (`contract.py`), its values (`facts.py`) and `this.py`, which makes the real one.
"""

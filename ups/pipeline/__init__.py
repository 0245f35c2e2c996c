"""`ups pipeline`: from a configuration to a promoted checkpoint and a report, step by step, each step's state on disk.

`steps.py` says which steps there are and what each does, `engine.py` runs them, `state.py` remembers. A new step is a
function in a file of its own and a row in `steps.py`. May import everything of the trainer; nothing imports it but its
command.
"""

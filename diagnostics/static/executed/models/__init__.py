"""What is done to a model once it is made: wrapped, sharded, frozen, called past its wrapper, left in a mode.

One question a file, pure. May import what stands beside this folder, static/execution and static/program.
"""

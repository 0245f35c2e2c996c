"""What a checkpoint holds, and what comes back of it: states that were empty, not gathered, or never given back.

One question a file, pure. May import static/execution and static/program.
"""

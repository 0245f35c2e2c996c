"""What the workers of a loader were given when they began: open files, attributes that change later.

One question a file, pure. May import what stands beside this folder, and static/execution.
"""

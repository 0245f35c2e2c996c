"""What a process marked of the objects of its program: schedules, containers, names. Data alone.

Imports core. `record/training_mark_lines.py` reads the lines; each kind is one of `Mark` in `record/training_marks.py`.
"""

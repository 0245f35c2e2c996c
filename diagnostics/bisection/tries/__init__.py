"""Runs trials in processes of their own under deadlines, tells failures apart, remembers all in a journal."""

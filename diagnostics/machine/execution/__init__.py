"""Runs children and ranks under deadlines, and carries a job's output."""

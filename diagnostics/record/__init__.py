"""Decoders of what a job left on disk: untrusted bytes to plain values. Pure but for bounded reads.

Imports core and the tables that the agent wrote with (`agent/shared`). A new file of a record gets a decoder here.
"""

"""Signatures D9xx: what the text of a program that ran tells of it, asked of the audit's rules; they import `audit`."""

"""Repairs cache files so that no interruption, full disk or second writer loses a byte."""

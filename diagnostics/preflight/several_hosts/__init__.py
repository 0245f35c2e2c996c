"""Probes P9xx (stage hosts): several hosts before a job. They judge what the survey of `diagnostics/hosts/` asked.

wording.py names hosts, and says who of them differs.
"""

"""Probes P9xx (stage hosts): several hosts before a job. They judge what `diagnostics/hosts/survey.py` asked.

`wording.py` names hosts and who of them differs.
"""

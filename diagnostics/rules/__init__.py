"""The rules of `ups-doctor audit`: one bad pattern a file. The contract is in `diagnostics/hits.py`."""

"""Rules A218 to A249: what ranks hand to each other: handles, slots, roots, gradients; and meetings for nothing.

Those about predictions and metrics stand in `audit/metrics`.
"""

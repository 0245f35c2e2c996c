"""What runs on each host of `preflight --hosts`: standard library only, sent there as text.

`gloo_child.py` starts a process that imports torch.
"""

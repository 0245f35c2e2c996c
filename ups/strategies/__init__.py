"""How the ranks share one model: alone, replicated (DDP), sharded (FSDP2), sharded and replicated (HSDP).

`admitted.py` says, without torch, which settings fit each other; `choice.py` makes the strategy of a configuration. A
strategy wraps a module, synchronises its gradients, clips them, and can tell the other ranks in the middle of a step
that it cannot make its part. `state.py` gathers what is sharded for a checkpoint, and spreads it again.
"""

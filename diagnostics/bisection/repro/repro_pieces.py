"""Definitions that a script takes along where it needs them, and the names that its own code must not take. Pure."""

RESERVED = frozenset(
    ["torch", "os", "sys", "tempfile", "faulthandler", "contextlib", "functools", "dist", "mp", "main", "model", "args",
     "output", "loss", "optimizer", "rank", "store", "ranks", "stand_in", "made", "tree_leaves", "loss_of", "forward",
     "cut", "parting", "DataLoader", "checkpoint", "fully_shard", "DistributedDataParallel",
     "FullyShardedDataParallel", "Fabric", "blocks", "items", "holds_others"]
)  # fmt: skip
STAND_IN = '''def stand_in(module, make):
    """The failure needs what this module gives, not how: noise like it, with gradients to all inputs and weights."""

    def forward(*args, **kwargs):
        given = [*tree_leaves((args, kwargs)), *module.parameters()]
        floats = [one for one in given if isinstance(one, torch.Tensor) and one.is_floating_point()]
        return make(sum((one.float().sum() for one in floats), torch.zeros(())) * 0, *args)

    module.forward = forward'''
HELD = '''class Held(torch.nn.Module):
    """A module without parameters, with one: a wrapper demands it."""

    def __init__(self, module):
        super().__init__()
        self.module, self.weight = module, torch.nn.Parameter(torch.zeros(1))

    def forward(self, *args, **kwargs):
        return self.module(*args, **kwargs), self.weight.sum()'''
LOSS = """def loss_of(output):
    tensors = [one for one in tree_leaves(output) if isinstance(one, torch.Tensor) and one.requires_grad]
    return sum(one.abs().float().mean() if one.is_complex() else one.float().mean() for one in tensors)"""
# As children/trial/cuts.py does.
CUT = '''def cut(container, places):
    """The failure needs only some of what this container holds."""
    kept = [list(container._modules.items())[place] for place in places]
    container._modules.clear()
    for number, (name, module) in enumerate(kept):
        container._modules[str(number) if isinstance(container, torch.nn.ModuleList) else name] = module'''
# What children/trial/checkpointing.py checkpoints.
BLOCKS = """def blocks(model):
    found = [one for one in items(model) if holds_others(one)]
    return found or [one for one in model.children() if holds_others(one)]


def items(module, listed=False):
    for child in module.children():
        called = type(child).forward is not torch.nn.Module.forward
        if called and listed:
            yield child
        else:
            yield from items(child, not called or isinstance(child, torch.nn.Sequential))


def holds_others(module):
    called = type(module).forward is not torch.nn.Module.forward
    return called and any(True for _ in module.children())"""
TREE_LEAVES = "from torch.utils._pytree import tree_leaves"

from functools import partial

from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp.wrap import ModuleWrapPolicy, size_based_auto_wrap_policy, transformer_auto_wrap_policy


def build(model, block):
    policy = partial(size_based_auto_wrap_policy, min_num_params=1_000_000)
    model = FSDP(model, auto_wrap_policy=policy)
    model = FSDP(model, auto_wrap_policy=partial(transformer_auto_wrap_policy, transformer_layer_cls={block}))
    return FSDP(model, auto_wrap_policy=ModuleWrapPolicy({block}))


def own_policy(module, recurse, nonwrapped_numel):
    return size_based_auto_wrap_policy(module, recurse, nonwrapped_numel, min_num_params=1000)

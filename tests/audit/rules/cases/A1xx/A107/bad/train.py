from functools import partial

from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp.wrap import size_based_auto_wrap_policy, transformer_auto_wrap_policy


def unbound(model):
    auto_wrap_policy = size_based_auto_wrap_policy
    return FSDP(model, auto_wrap_policy=auto_wrap_policy)


def called(model):
    return FSDP(model, auto_wrap_policy=size_based_auto_wrap_policy(min_num_params=1_000_000))


def without_classes(model):
    return FSDP(model, auto_wrap_policy=transformer_auto_wrap_policy)

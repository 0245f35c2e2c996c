from functools import partial

from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp.wrap import ModuleWrapPolicy, transformer_auto_wrap_policy

from net import Net, OldBlock


def build():
    policy = partial(transformer_auto_wrap_policy, transformer_layer_cls={OldBlock})
    return FSDP(Net(), auto_wrap_policy=policy)

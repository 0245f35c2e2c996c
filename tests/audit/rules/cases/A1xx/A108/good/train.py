from functools import partial

from torch.distributed.fsdp import FullyShardedDataParallel as FSDP
from torch.distributed.fsdp.wrap import ModuleWrapPolicy, transformer_auto_wrap_policy
from transformers.models.llama.modeling_llama import LlamaDecoderLayer

from net import Block, Net, Wide


def build():
    policy = partial(transformer_auto_wrap_policy, transformer_layer_cls={Block})
    return FSDP(Net(), auto_wrap_policy=policy)


def others(model):
    wide = FSDP(model, auto_wrap_policy=ModuleWrapPolicy({Wide}))  # made through a table
    return FSDP(wide, auto_wrap_policy=ModuleWrapPolicy({LlamaDecoderLayer}))  # a library's

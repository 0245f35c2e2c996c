from functools import partial

from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel
from torch.distributed.fsdp.wrap import transformer_auto_wrap_policy
from vision import vit


class Net(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.layers = vit(width)


def wrap(model):
    policy = partial(transformer_auto_wrap_policy, transformer_layer_cls={nn.TransformerEncoderLayer})
    return FullyShardedDataParallel(model, auto_wrap_policy=policy)


def main():
    return wrap(Net())

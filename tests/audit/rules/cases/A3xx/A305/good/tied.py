from torch import nn
from torch.distributed.fsdp import FullyShardedDataParallel as FSDP


class Net(nn.Module):
    def __init__(self, words, width):
        super().__init__()
        self.embed = nn.Embedding(words, width)
        self.middle = nn.Linear(width, width)
        self.head = nn.Linear(width, words, bias=False)
        self.head.weight = self.embed.weight


def shard(model):
    model.middle = FSDP(model.middle)
    return FSDP(model)


def build():
    return shard(Net(100, 8))


class Either(nn.Module):
    def __init__(self, words, width, tied):
        super().__init__()
        self.tied = tied
        self.embed = nn.Embedding(words, width)
        self.head = nn.Linear(width, words, bias=False)
        if tied:
            self.head.weight = self.embed.weight


def shard_either(model: Either):
    if not model.tied:
        model.embed = FSDP(model.embed)
        model.head = FSDP(model.head)
    return FSDP(model)

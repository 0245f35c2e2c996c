import torch
from torch import nn

from pipe.channel import Channel
from pipe.corpus import density


class EncoderStage:
    def __init__(self, cfg):
        torch.manual_seed(cfg["seed"])
        self.cfg = cfg
        self.module = nn.Sequential(nn.Embedding(cfg["vocab"], cfg["dim"], padding_idx=0),
                                    nn.Linear(cfg["dim"], cfg["dim"]), nn.GELU())
        self.optimizer = torch.optim.Adam(self.module.parameters(), lr=cfg["lr"])
        self.channel = Channel(peer=1)

    def run(self, micro_batches):
        self.optimizer.zero_grad()
        for source, _ in micro_batches:
            tag = self.channel.ticket()
            if density(source) < self.cfg["min_density"]:
                continue
            hidden = self.module(source)
            self.channel.send(hidden.detach(), tag)
            grad = self.channel.recv(hidden.shape, tag + Channel.GRADIENT)
            hidden.backward(grad)
        self.optimizer.step()

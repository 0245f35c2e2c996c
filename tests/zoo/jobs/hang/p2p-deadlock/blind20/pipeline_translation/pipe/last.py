import torch
from torch import nn

from pipe.channel import Channel
from pipe.corpus import density


class DecoderStage:
    def __init__(self, cfg):
        torch.manual_seed(cfg["seed"] + 1)
        self.cfg = cfg
        self.module = nn.Sequential(nn.Linear(cfg["dim"], cfg["dim"]), nn.GELU(), nn.Linear(cfg["dim"], cfg["vocab"]))
        self.optimizer = torch.optim.Adam(self.module.parameters(), lr=cfg["lr"])
        self.channel = Channel(peer=0)

    def run(self, micro_batches):
        self.optimizer.zero_grad()
        losses = []
        for source, target in micro_batches:
            if density(source) < self.cfg["min_density"]:
                continue
            tag = self.channel.ticket()
            hidden = self.channel.recv((*source.shape, self.cfg["dim"]), tag).requires_grad_()
            logits = self.module(hidden)
            loss = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), ignore_index=0)
            loss.backward()
            self.channel.send(hidden.grad, tag + Channel.GRADIENT)
            losses.append(loss.item())
        self.optimizer.step()
        return sum(losses) / max(1, len(losses))

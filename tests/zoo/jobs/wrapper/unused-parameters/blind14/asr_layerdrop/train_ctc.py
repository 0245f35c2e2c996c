import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from encoder import SpeechEncoder
from speech import batches


def load_conf(path):
    conf = {}
    for line in open(path):
        key, value = line.split(":")
        conf[key.strip()] = float(value) if "." in value else int(value)
    return conf


class Recipe:
    def __init__(self, conf):
        self.conf = conf
        self.rank, self.world = dist.get_rank(), dist.get_world_size()
        torch.manual_seed(21)
        net = SpeechEncoder(conf["n_mels"], conf["width"], conf["depth"], conf["heads"], conf["n_tokens"])
        self.model = DistributedDataParallel(net)
        self.optim = torch.optim.AdamW(self.model.parameters(), lr=conf["lr"])
        self.ctc = nn.CTCLoss(zero_infinity=True)
        torch.manual_seed(1000 + self.rank)

    def on_epoch(self, epoch):
        if epoch >= self.conf["layerdrop_from"]:
            self.model.module.skip_rate = self.conf["layerdrop"]

    def train_epoch(self, epoch):
        c = self.conf
        for step, (feats, text) in enumerate(batches(c["batch"], rank=self.rank, world=self.world, n_items=c["items"], n_tokens=c["n_tokens"],
                                                     n_mels=c["n_mels"], frames=c["frames"], epoch=epoch)):
            logp = self.model(feats).transpose(0, 1)
            sizes = torch.full((len(text),), logp.shape[0]), torch.full((len(text),), text.shape[1])
            loss = self.ctc(logp, text, *sizes)
            self.optim.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 5.0)
            self.optim.step()
            if self.rank == 0 and step % 20 == 0:
                print(f"epoch {epoch} step {step} ctc {loss.item():.3f}", flush=True)

    def run(self):
        for epoch in range(self.conf["epochs"]):
            self.on_epoch(epoch)
            self.train_epoch(epoch)


if __name__ == "__main__":
    dist.init_process_group("gloo")
    Recipe(load_conf(sys.argv[1])).run()
    dist.destroy_process_group()

import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from engine import Engine, EngineConfig


class Recogniser(nn.Module):
    def __init__(self, bins=80, vocab=64):
        super().__init__()
        self.rnn = nn.GRU(bins, 256, 3, batch_first=True, bidirectional=True)
        self.out = nn.Linear(512, vocab)

    def forward(self, feats):
        return self.out(self.rnn(feats)[0])


def main(manifest):
    from corpus import Utterances, pad
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    data = Utterances(manifest)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, 16, sampler=sampler, collate_fn=pad, num_workers=4, drop_last=True)
    engine = Engine(DDP(Recogniser().to(local), device_ids=[local]), local, EngineConfig())
    for epoch in range(20):
        sampler.set_epoch(epoch)
        for batch in loader:
            loss, norm = engine.train_step(batch)
            if dist.get_rank() == 0 and engine.global_step % engine.cfg.log_every == 0:
                print(engine.global_step, loss.item(), norm.item())
    if dist.get_rank() == 0:
        torch.save(engine.state_dict(), "asr.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])

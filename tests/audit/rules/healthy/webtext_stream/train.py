import os
from itertools import islice

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader

from stream import EndlessShards

STEPS, EVERY, ACCUMULATE = 20000, 2000, 4


class RNNLM(nn.Module):
    def __init__(self, vocab=32000, dim=768):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.LSTM(dim, dim, 3, batch_first=True)
        self.out = nn.Linear(dim, vocab)

    def forward(self, x):
        return self.out(self.rnn(self.embed(x))[0])


def loss_of(model, rows):
    logits = model(rows[:, :-1])
    return nn.functional.cross_entropy(logits.flatten(0, 1), rows[:, 1:].flatten())


def main():
    local = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    torch.manual_seed(90)
    loader = DataLoader(EndlessShards("webtext/*.pt", 256, seed=90), batch_size=16, num_workers=4)
    batches = iter(loader)
    model = DistributedDataParallel(RNNLM().cuda(), device_ids=[local])
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    for step in range(1, STEPS + 1):
        micro = list(islice(batches, ACCUMULATE))
        with model.no_sync():
            for rows in micro[:-1]:
                (loss_of(model, rows.cuda()) / ACCUMULATE).backward()
        loss = loss_of(model, micro[-1].cuda())
        (loss / ACCUMULATE).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()
        if step % EVERY == 0:
            mean = loss.detach().clone()
            dist.all_reduce(mean)
            if dist.get_rank() == 0:
                print(step, mean.item() / dist.get_world_size(), flush=True)
                torch.save(model.module.state_dict(), f"rnnlm-{step}.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

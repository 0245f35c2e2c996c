"""CTC on synthetic utterances; shards are of different size and stay so."""
import datetime

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from utterances import SHARD_SIZES, batches


class Acoustic(nn.Module):
    def __init__(self, mels=20, width=40, symbols=12):
        super().__init__()
        self.rnn = nn.GRU(mels, width, batch_first=True)
        self.out = nn.Linear(width, symbols)

    def forward(self, x):
        return self.out(self.rnn(x)[0]).log_softmax(-1)


def main():
    dist.init_process_group("gloo", timeout=datetime.timedelta(minutes=2))
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(Acoustic())
    opt = torch.optim.Adam(model.parameters(), lr=3e-3)
    ctc = nn.CTCLoss(zero_infinity=True)
    reporters = dist.new_group([0, 2])
    for epoch in range(2):
        count = 0
        with model.join():
            for x, y, lx, ly in batches(rank, epoch):
                loss = ctc(model(x).transpose(0, 1), y, lx, ly)
                opt.zero_grad()
                loss.backward()
                opt.step()
                count += 1
        print(f"rank {rank} epoch {epoch}: {count} of {max(SHARD_SIZES)} steps", flush=True)
        if rank in (0, 2):
            last = torch.tensor([loss.item(), float(count)])
            dist.all_reduce(last, group=reporters)
            if rank == 0:
                print(f"epoch {epoch}: loss of the far shards {last[0] / 2:.3f}", flush=True)
    same = [None] * dist.get_world_size()
    dist.all_gather_object(same, sum(p.double().sum().item() for p in model.parameters()))
    assert max(same) - min(same) < 1e-6, same
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

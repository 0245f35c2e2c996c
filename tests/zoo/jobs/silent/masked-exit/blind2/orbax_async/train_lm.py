import shutil
import tempfile

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from ckpt import CheckpointManager
from pipeline import TokenStream

VOCAB, BLOCK, STEPS = 40, 12, 60


class SmallLM(nn.Module):

    def __init__(self, dim=32):
        super().__init__()
        self.emb, self.rnn, self.head = nn.Embedding(VOCAB, dim), nn.GRU(dim, dim, batch_first=True), nn.Linear(dim, VOCAB)

    def forward(self, tokens):
        logits = self.head(self.rnn(self.emb(tokens[:, :-1]))[0])
        return nn.functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten())


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    directory = tempfile.mkdtemp(prefix="lm-ckpt-")
    model = DDP(SmallLM())
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    stream = TokenStream(VOCAB, BLOCK, rank)
    manager = CheckpointManager(directory, save_interval=20)
    manager.track(model=model.module, optimizer=optimizer, scheduler=scheduler, data=stream)
    for step in range(1, STEPS + 1):
        loss = model(stream.next_batch(16))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        manager.maybe_save(step)
        if step % 20 == 0 and rank == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
    manager.close()
    dist.barrier()
    if rank == 0:
        print("training complete, checkpoints under", directory, flush=True)
    shutil.rmtree(directory, ignore_errors=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

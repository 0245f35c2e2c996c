"""A step that runs out of memory on one rank is skipped there; the others wait in backward."""
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP


class Trainer:
    def __init__(self, model, optimizer):
        self.model = DDP(model)
        self.optimizer = optimizer

    def step(self, batch):
        loss = self.model(batch["tokens"]).logsumexp(-1).mean()
        loss.backward()
        self.optimizer.step()
        self.optimizer.zero_grad()
        return loss.detach()

    def safe_step(self, batch):
        try:
            return self.step(batch)
        except RuntimeError as e:  # cause
            if "out of memory" not in str(e):
                raise
            print("ran out of memory, skipping batch")
            torch.cuda.empty_cache()
            self.optimizer.zero_grad()
            return None

    def fit(self, loader):
        for batch in loader:
            loss = self.safe_step(batch)
            if loss is not None and dist.get_rank() == 0:
                print(float(loss))


def main():
    dist.init_process_group("nccl")
    torch.cuda.set_device(dist.get_rank() % torch.cuda.device_count())
    model = nn.Sequential(nn.Embedding(100, 8), nn.Linear(8, 100)).cuda()
    trainer = Trainer(model, torch.optim.Adam(model.parameters()))
    data = [{"tokens": torch.randint(100, (4, 32 * (i + 1)), device="cuda")} for i in range(8)]
    trainer.fit(data)


main()

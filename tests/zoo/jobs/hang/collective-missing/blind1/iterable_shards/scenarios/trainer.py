import torch
import torch.distributed as dist
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel


class BasicTrainer:
    def __init__(self, module, data, epochs):
        self.module, self.data, self.epochs = DistributedDataParallel(module), data, epochs
        self.optimizer = torch.optim.AdamW(self.module.parameters(), lr=1e-3)
        self.global_step = 0

    def run_epoch(self):
        total, batches = 0.0, 0
        for ids in self.data.train_dataloader():
            loss = cross_entropy(self.module(ids[:, :-1]).transpose(1, 2), ids[:, 1:])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            self.global_step += 1
            total, batches = total + loss.item(), batches + 1
        return torch.tensor([total, batches], dtype=torch.float64)

    def fit(self):
        for epoch in range(self.epochs):
            sums = self.run_epoch()
            every = [torch.zeros_like(sums) for _ in range(dist.get_world_size())]
            dist.all_gather(every, sums)
            if dist.get_rank() == 0:
                total = sum(every)
                print(f"epoch {epoch} loss {total[0] / total[1]:.3f}", flush=True)

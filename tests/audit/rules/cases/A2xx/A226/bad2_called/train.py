import torch.distributed as dist
from ranks import synchronise


class Trainer:
    def train_step(self, batch):
        loss = self.model(batch)
        loss.backward()
        self.optimizer.step()
        dist.barrier()
        return loss

    def fit(self):
        for epoch in range(self.epochs):
            for batch in self.loader:
                self.train_step(batch)
                synchronise()

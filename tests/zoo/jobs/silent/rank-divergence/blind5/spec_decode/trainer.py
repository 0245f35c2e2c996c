import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.optim.lr_scheduler import LambdaLR
from torch.utils.data import DataLoader, DistributedSampler

from speculator import DraftHead


class Trainer:
    def __init__(self, dataset, checkpointer, num_epochs, batch_size=10, lr=4e-3, resume=False):
        self.rank = dist.get_rank()
        self.checkpointer = checkpointer
        self.num_epochs = num_epochs
        self.sampler = DistributedSampler(dataset, seed=3)
        self.loader = DataLoader(dataset, batch_size=batch_size, sampler=self.sampler)
        self.global_step = 0
        self.setup_model(resume)
        self.setup_optimizer(lr, resume)

    def setup_model(self, resume):
        model = DraftHead()
        if resume and self.rank == 0:
            self.global_step = self.checkpointer.load_model_state_dict(model)
        self.model = DistributedDataParallel(model)
        step = torch.tensor(self.global_step)
        dist.broadcast(step, src=0)
        self.global_step = int(step)

    def setup_optimizer(self, lr, resume):
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=lr, weight_decay=0.01)
        total = len(self.loader) * self.num_epochs
        self.scheduler = LambdaLR(self.optimizer, lambda s: max(0.1, 1 - s / total))
        if resume and self.rank == 0:
            self.checkpointer.load_optimizer_state_dict(self.optimizer, self.scheduler)

    def run(self, last_epoch):
        while (epoch := self.global_step // len(self.loader)) < last_epoch:
            self.sampler.set_epoch(epoch)
            for states, tokens, targets in self.loader:
                logp = torch.log_softmax(self.model(states, tokens), dim=-1)
                loss = -(targets * logp).sum(-1).mean()
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                self.scheduler.step()
                self.global_step += 1
            if self.rank == 0:
                print(f"epoch {epoch} step {self.global_step} loss {loss.item():.4f}", flush=True)
        self.checkpointer.save(self.model, self.optimizer, self.scheduler, self.global_step)

from common import *


class Trainer:
    def __init__(self):
        self.rank = setup()
        self.sampler = DistributedSampler(Waves(), seed=3)
        self.loader = DataLoader(Waves(), 16, sampler=self.sampler)
        self.model = DDP(nn.Linear(16, 1))
        self.optimizer = torch.optim.AdamW(self.model.parameters(), 1e-3)

    def epoch(self, e):
        self.sampler.set_epoch(e)
        for x in self.loader:
            self.optimizer.zero_grad()
            self.model(x).pow(2).mean().backward()
            self.optimizer.step()


trainer = Trainer()
for e in range(6):
    trainer.epoch(e)
dist.destroy_process_group()

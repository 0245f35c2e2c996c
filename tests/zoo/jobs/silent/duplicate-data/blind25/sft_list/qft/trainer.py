import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


class Answerer(nn.Module):
    """Image memory plus a small projector, fine-tuned to give the annotated answer."""

    def __init__(self, images, classes=16, dim=96):
        super().__init__()
        self.memory = nn.Embedding(images, dim)
        self.projector = nn.Sequential(nn.LayerNorm(dim), nn.Linear(dim, dim), nn.GELU(), nn.Linear(dim, dim))
        self.lm_head = nn.Linear(dim, classes, bias=False)

    def forward(self, image):
        h = self.memory(image)
        return self.lm_head(h + 0.1 * self.projector(h))


class Trainer:
    def __init__(self, model, train_dataset, data_collator, batch_size=16, seed=42):
        self.model = DistributedDataParallel(model)
        self.sampler = DistributedSampler(train_dataset, shuffle=True, seed=seed)
        self.loader = DataLoader(train_dataset, batch_size=batch_size, sampler=self.sampler, collate_fn=data_collator)
        self.optimizer = torch.optim.Adam([
            {"params": model.memory.parameters(), "lr": 0.5},
            {"params": list(model.projector.parameters()), "lr": 1e-3},
            {"params": model.lm_head.parameters(), "lr": 1e-4},
        ], betas=(0.0, 0.99))

    def train(self, epochs):
        step = 0
        for epoch in range(epochs):
            self.sampler.set_epoch(epoch)
            for batch in self.loader:
                loss = nn.functional.cross_entropy(self.model(batch["image"]), batch["labels"])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
                step += 1
                if step % 40 == 0 and dist.get_rank() == 0:
                    print({"step": step, "epoch": epoch, "loss": round(loss.item(), 4)}, flush=True)

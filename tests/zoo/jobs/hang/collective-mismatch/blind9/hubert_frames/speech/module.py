import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel


class Encoder(nn.Module):
    def __init__(self, dim=16, units=12):
        super().__init__()
        self.proj = nn.Linear(dim, 32)
        self.head = nn.Linear(32, units)

    def forward(self, feats):
        return self.head(torch.relu(self.proj(feats)))


class HuBERTModule:
    def __init__(self):
        self.model = DistributedDataParallel(Encoder())
        self.opt = torch.optim.AdamW(self.model.parameters(), lr=1e-3)
        self.world = dist.get_world_size()

    def _step(self, batch):
        feats, lengths = batch
        logits = self.model(feats)
        mask = torch.arange(feats.shape[1])[None, :] < lengths[:, None]
        target = feats.argmax(-1) % logits.shape[-1]
        nll = nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="none")
        per_utt = (nll.view(mask.shape) * mask).sum(1) / mask.sum(1)
        return per_utt.mean(), mask.sum()

    def training_step(self, batch):
        self.opt.zero_grad()
        loss, num_frame = self._step(batch)
        if torch.isinf(loss) or torch.isnan(loss):
            return None
        num_frames = [torch.zeros_like(num_frame) for _ in range(self.world)]
        dist.all_gather(num_frames, num_frame)
        total = sum(n.item() for n in num_frames)
        (loss * self.world * num_frame / total).backward()
        self.opt.step()
        return loss.item()

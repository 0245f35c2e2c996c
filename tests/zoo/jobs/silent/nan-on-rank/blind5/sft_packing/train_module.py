import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

from data import IGNORE_INDEX


class TinyLM(nn.Module):
    def __init__(self, vocab=40, dim=32):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.GRU(dim, dim, batch_first=True)
        self.norm = nn.LayerNorm(dim)
        self.out = nn.Linear(dim, vocab)

    def forward(self, input_ids):
        h, _ = self.rnn(self.embed(input_ids))
        return self.out(self.norm(h))


class TransformerTrainModule:
    def __init__(self, model, lr, rank_microbatch_size, max_grad_norm=1.0, z_loss_multiplier=1e-4):
        self.model = DDP(model)
        self.optim = torch.optim.AdamW(self.model.parameters(), lr=lr, weight_decay=0.1)
        self.rank_microbatch_size = rank_microbatch_size
        self.max_grad_norm = max_grad_norm
        self.z_loss_multiplier = z_loss_multiplier

    def train_batch(self, batch):
        labels = F.pad(batch["labels"][:, 1:], (0, 1), value=IGNORE_INDEX)
        batch_num_tokens_for_loss = (labels != IGNORE_INDEX).sum()
        micro_ids = batch["input_ids"].split(self.rank_microbatch_size)
        micro_labels = labels.split(self.rank_microbatch_size)
        total = torch.tensor(0.0)
        for i, (ids, lab) in enumerate(zip(micro_ids, micro_labels)):
            self.model.require_backward_grad_sync = i == len(micro_ids) - 1
            logits = self.model(ids)
            ce_loss = F.cross_entropy(logits.flatten(0, 1), lab.flatten(), ignore_index=IGNORE_INDEX, reduction="sum")
            z_loss = (logits.logsumexp(-1).square() * (lab != IGNORE_INDEX)).sum()
            loss = (ce_loss + self.z_loss_multiplier * z_loss) / batch_num_tokens_for_loss
            loss.backward()
            total += loss.detach()
        return total

    def optim_step(self):
        nn.utils.clip_grad_norm_(self.model.parameters(), self.max_grad_norm)
        self.optim.step()
        self.optim.zero_grad(set_to_none=True)

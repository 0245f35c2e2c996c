import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler

from mt.accumulate import Window

PAD = 1


class Translator(nn.Module):
    def __init__(self, vocab=32000, dim=512):
        super().__init__()
        self.emb = nn.Embedding(vocab, dim, padding_idx=PAD)
        self.core = nn.Transformer(dim, 8, 6, 6, batch_first=True)
        self.proj = nn.Linear(dim, vocab)

    def forward(self, src, tgt):
        mask = nn.Transformer.generate_square_subsequent_mask(tgt.size(1), device=tgt.device)
        out = self.core(self.emb(src), self.emb(tgt), tgt_mask=mask,
                        src_key_padding_mask=src == PAD, tgt_key_padding_mask=tgt == PAD)
        return self.proj(out)


def inverse_sqrt(warmup):
    def factor(step):
        step = max(step, 1)
        return min(step / warmup, (warmup / step) ** 0.5)

    return factor


class MTTrainer:
    def __init__(self, data, collate, update_freq=8):
        self.local = int(os.environ["LOCAL_RANK"])
        self.model = DistributedDataParallel(Translator().cuda(), device_ids=[self.local])
        self.opt = torch.optim.Adam(self.model.parameters(), lr=7e-4, betas=(0.9, 0.98))
        self.sched = torch.optim.lr_scheduler.LambdaLR(self.opt, inverse_sqrt(4000))
        self.loss = nn.CrossEntropyLoss(ignore_index=PAD, label_smoothing=0.1)
        self.sampler = DistributedSampler(data)
        self.loader = DataLoader(data, 32, sampler=self.sampler, collate_fn=collate, num_workers=2)
        self.update_freq = update_freq

    def epoch(self, n):
        self.sampler.set_epoch(n)
        window = Window(self.model, self.update_freq, len(self.loader))
        for src, tgt in self.loader:
            src, tgt = src.cuda(), tgt.cuda()
            with window.advance().sync():
                out = self.model(src, tgt[:, :-1])
                loss = self.loss(out.flatten(0, 1), tgt[:, 1:].flatten())
                (loss / self.update_freq).backward()
            if window.is_boundary:
                nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
                self.opt.step()
                self.opt.zero_grad(set_to_none=True)
                self.sched.step()
        return loss.item()


def main(data, collate):
    dist.init_process_group("nccl")
    torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    trainer = MTTrainer(data, collate)
    for n in range(20):
        loss = trainer.epoch(n)
        if dist.get_rank() == 0:
            print(f"epoch {n} {loss:.3f}")
            torch.save(trainer.model.module.state_dict(), "mt.pt")
    dist.destroy_process_group()

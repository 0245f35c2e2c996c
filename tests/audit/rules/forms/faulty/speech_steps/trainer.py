import argparse
import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler

from corpus import Utterances, pad_collate
from steps import resilient


@dataclass
class Options:
    manifest: str
    epochs: int = 20
    lr: float = 3e-4
    hidden: int = 512
    batch_size: int = 12


class Recognizer(nn.Module):
    def __init__(self, hidden, vocab=64):
        super().__init__()
        self.rnn = nn.LSTM(80, hidden, num_layers=3, batch_first=True)
        self.proj = nn.Linear(hidden, vocab)

    def forward(self, frames):
        out, _ = self.rnn(frames)
        return self.proj(out).log_softmax(-1)


class SpeechTrainer:
    def __init__(self, opt):
        self.opt = opt
        self.local_rank = int(os.environ["LOCAL_RANK"])
        torch.cuda.set_device(self.local_rank)
        self.device = torch.device("cuda", self.local_rank)
        data = Utterances(opt.manifest)
        self.sampler = DistributedSampler(data, drop_last=True)
        self.loader = DataLoader(data, opt.batch_size, sampler=self.sampler, collate_fn=pad_collate, num_workers=4, drop_last=True)
        net = Recognizer(opt.hidden).to(self.device)
        self.model = DistributedDataParallel(net, device_ids=[self.local_rank])
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=opt.lr)
        self.skipped = 0

    @resilient  # cause
    def step(self, batch):
        frames = batch["frames"].to(self.device, non_blocking=True)
        logp = self.model(frames).transpose(0, 1)
        loss = F.ctc_loss(logp, batch["labels"].to(self.device), batch["frame_lens"], batch["label_lens"])
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        self.optimizer.step()
        return loss.detach()

    def fit(self):
        for epoch in range(self.opt.epochs):
            self.sampler.set_epoch(epoch)
            total = torch.zeros(2, device=self.device)
            for batch in self.loader:
                loss = self.step(batch)
                if loss is not None:
                    total += torch.stack([loss, torch.ones_like(loss)])
            dist.all_reduce(total)
            if dist.get_rank() == 0:
                print(f"epoch {epoch} loss {(total[0] / total[1]).item():.4f} skipped {self.skipped}")


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--manifest", required=True)
    p.add_argument("--epochs", type=int, default=20)
    ns = p.parse_args()
    dist.init_process_group("nccl")
    SpeechTrainer(Options(manifest=ns.manifest, epochs=ns.epochs)).fit()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

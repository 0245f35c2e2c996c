import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from loop import Loop


@dataclass
class Settings:
    vocab: int = 16000
    dim: int = 512
    epochs: int = 12
    batch: int = 24
    accum: int = 4
    warmup: int = 4000
    pairs: str = "pairs.pt"


class Translator(nn.Module):
    def __init__(self, s):
        super().__init__()
        self.emb = nn.Embedding(s.vocab, s.dim, padding_idx=0)
        self.core = nn.Transformer(s.dim, 8, 4, 4, batch_first=True)
        self.out = nn.Linear(s.dim, s.vocab)

    def forward(self, src, tgt):
        mask = nn.Transformer.generate_square_subsequent_mask(tgt.size(1), device=tgt.device)
        return self.out(self.core(self.emb(src), self.emb(tgt), tgt_mask=mask, tgt_is_causal=True))


def main(s=Settings()):
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    torch.manual_seed(99)
    raw = torch.load(s.pairs, map_location="cpu", weights_only=True)
    ds = TensorDataset(raw["src"], raw["tgt"])
    order = DistributedSampler(ds)
    loader = DataLoader(ds, s.batch, sampler=order, num_workers=2, pin_memory=True)
    net = DistributedDataParallel(Translator(s).to(device), device_ids=[device.index])
    opt = torch.optim.Adam(net.parameters(), lr=1.0, betas=(0.9, 0.98), eps=1e-9)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lambda k: s.dim**-0.5 * min((k + 1) ** -0.5, (k + 1) * s.warmup**-1.5))
    loop = Loop(net, opt, sched, s.accum, device)
    criterion = nn.CrossEntropyLoss(ignore_index=0, label_smoothing=0.1)
    for epoch in range(s.epochs):
        order.set_epoch(epoch)
        mean = loop.epoch(loader, criterion)
        if dist.get_rank() == 0:
            print(epoch, round(mean, 4), loop.updates, flush=True)
            torch.save({"net": net.module.state_dict(), "opt": opt.state_dict(), "epoch": epoch}, "mt.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

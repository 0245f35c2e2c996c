import logging
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from safe_step import SafeStep


class Clips(Dataset):
    def __init__(self, path):
        self.rows = torch.load(path, map_location="cpu", weights_only=True)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        return self.rows[i]["mel"], self.rows[i]["label"]


def collate(rows):
    mel, label = zip(*rows)
    return pad_sequence(list(mel), batch_first=True), torch.stack(list(label))


class Tagger(nn.Module):
    def __init__(self, mels=80, dim=512, classes=527):
        super().__init__()
        self.inp = nn.Linear(mels, dim)
        self.enc = nn.TransformerEncoder(nn.TransformerEncoderLayer(dim, 8, batch_first=True), 8)
        self.out = nn.Linear(dim, classes)

    def forward(self, x):
        return self.out(self.enc(self.inp(x)).mean(1))


def main():
    local = int(os.environ["LOCAL_RANK"])
    logging.basicConfig(level=logging.INFO if local == 0 else logging.WARNING)
    torch.cuda.set_device(local)
    dist.init_process_group("nccl")
    torch.manual_seed(3)
    net = DistributedDataParallel(Tagger().cuda(local), device_ids=[local])
    opt = torch.optim.AdamW(net.parameters(), lr=2e-4)
    step = SafeStep(net, opt, torch.amp.GradScaler("cuda"), nn.BCEWithLogitsLoss())
    clips = Clips("clips.pt")
    order = DistributedSampler(clips, shuffle=True)
    loader = DataLoader(clips, 16, sampler=order, collate_fn=collate, num_workers=4, pin_memory=True)
    for epoch in range(50):
        order.set_epoch(epoch)
        for mel, label in loader:
            step.run(mel.cuda(local, non_blocking=True), label.cuda(local, non_blocking=True).float())
        if dist.get_rank() == 0:
            torch.save(net.module.state_dict(), "tagger.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import argparse
import os

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

from engine import Engine


class Acoustic(nn.Module):
    def __init__(self, mels=80, hidden=320, vocab=29):
        super().__init__()
        self.rnn = nn.LSTM(mels, hidden, num_layers=3, batch_first=True, bidirectional=True)
        self.head = nn.Linear(2 * hidden, vocab)

    def forward(self, x):
        return self.head(self.rnn(x)[0])


def corpus(path):
    blob = torch.load(path, map_location="cpu")
    return TensorDataset(blob["feats"], blob["feat_lens"], blob["labels"], blob["label_lens"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="data/train-clean-100.pt")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch-size", type=int, default=16)
    args = parser.parse_args()

    local_rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local_rank)
    dist.init_process_group("nccl")
    torch.manual_seed(7)
    device = torch.device("cuda", local_rank)

    dataset = corpus(args.data)
    sampler = DistributedSampler(dataset, shuffle=True)
    loader = DataLoader(dataset, args.batch_size, sampler=sampler, num_workers=4, pin_memory=True, drop_last=True)
    model = DDP(Acoustic().to(device), device_ids=[local_rank])
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    engine = Engine(model, optimizer, device)
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        loss = engine.fit_epoch(loader)
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss:.4f}", flush=True)
            torch.save(model.module.state_dict(), "asr.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

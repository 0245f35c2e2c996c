import os

import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset
from transformers import AutoModel

from report import Report, summed


class Spans(nn.Module):
    def __init__(self, name):
        super().__init__()
        self.encoder = AutoModel.from_pretrained(name, add_pooling_layer=False)
        self.ends = nn.Linear(self.encoder.config.hidden_size, 2)

    def forward(self, ids, mask):
        scores = self.ends(self.encoder(input_ids=ids, attention_mask=mask).last_hidden_state)
        return scores.masked_fill(mask.unsqueeze(-1) == 0, -1e4).unbind(-1)


def parts(path):
    blob = torch.load(path, map_location="cpu")
    for key in ("train", "dev"):
        data = TensorDataset(*(blob[key][k] for k in ("ids", "mask", "start", "end")))
        sampler = DistributedSampler(data, shuffle=key == "train")
        yield DataLoader(data, 16, sampler=sampler, drop_last=key == "train")


@torch.no_grad()
def exact(model, loader):
    model.eval()
    hits = seen = 0
    for batch in loader:
        ids, mask, start, end = (t.cuda() for t in batch)
        s, e = model(ids, mask)
        hits += ((s.argmax(1) == start) & (e.argmax(1) == end)).sum().item()
        seen += len(ids)
    hits, seen = summed(hits, seen)
    return hits / seen


def main():
    gpu = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(gpu)
    dist.init_process_group("nccl")
    torch.manual_seed(0)
    report = Report("runs/squad")
    train, dev = parts("squad.pt")
    model = DistributedDataParallel(Spans("bert-base-uncased").cuda(), device_ids=[gpu])
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-5)
    best = 0.0
    for epoch in range(3):
        train.sampler.set_epoch(epoch)
        model.train()
        for step, batch in enumerate(train):
            ids, mask, start, end = (t.cuda() for t in batch)
            s, e = model(ids, mask)
            loss = nn.functional.cross_entropy(s, start) + nn.functional.cross_entropy(e, end)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            if step % 100 == 0:
                report.line(epoch=epoch, step=step, loss=loss.item())
        score = exact(model, dev)
        report.line(epoch=epoch, exact=score)
        if score > best:
            best = score
            report.weights(model, "best.pt")
    if dist.get_rank() == 0:
        print(f"best {best:.4f}")
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import argparse

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, DistributedSampler

from chat.data import ChatData, collate, read_examples


class Student(torch.nn.Module):
    def __init__(self, vocab=64):
        super().__init__()
        self.emb = torch.nn.Embedding(vocab, 16)
        self.head = torch.nn.Linear(16, vocab)

    def forward(self, ids):
        return self.head(self.emb(ids))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--max-seq-len", type=int, default=48)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--epochs", type=int, default=3)
    args = parser.parse_args()
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    data = ChatData(read_examples(), args.max_seq_len)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, args.batch_size, sampler=sampler, collate_fn=collate, drop_last=True)
    model = DDP(Student())
    optim = torch.optim.AdamW(model.parameters(), lr=1e-3)
    steps = 0
    for epoch in range(args.epochs):
        sampler.set_epoch(epoch)
        for ids in loader:
            logits = model(ids[:, :-1])
            loss = torch.nn.functional.cross_entropy(logits.flatten(0, 1), ids[:, 1:].flatten(), ignore_index=0)
            optim.zero_grad()
            loss.backward()
            optim.step()
            steps += 1
        if dist.get_rank() == 0:
            print(f"epoch {epoch + 1}/{args.epochs} done", flush=True)
    if dist.get_rank() == 0:
        print("Training complete", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

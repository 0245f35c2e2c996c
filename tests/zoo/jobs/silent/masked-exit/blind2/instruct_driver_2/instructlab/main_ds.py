"""One rank of the training."""
import argparse
import json

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler


class TokenDataset(Dataset):

    def __init__(self, path):
        with open(path) as f:
            self.samples = [json.loads(line) for line in f]

    def __len__(self):
        return len(self.samples)

    def __getitem__(self, i):
        sample = self.samples[i]
        return torch.tensor(sample["input_ids"]), torch.tensor(sample["labels"])


def collate(batch):
    pad = lambda ts, v: nn.utils.rnn.pad_sequence(list(ts), batch_first=True, padding_value=v)
    ids, labels = zip(*batch)
    return pad(ids, 0), pad(labels, -100)


class LM(nn.Module):

    def __init__(self, vocab, dim=32):
        super().__init__()
        self.emb, self.rnn, self.head = nn.Embedding(vocab, dim), nn.GRU(dim, dim, batch_first=True), nn.Linear(dim, vocab)

    def forward(self, ids, labels):
        return nn.functional.cross_entropy(self.head(self.rnn(self.emb(ids))[0]).flatten(0, 1), labels.flatten())


def main(args):
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    dataset = TokenDataset(args.data_path)
    loader = DataLoader(
        dataset, args.batch_size // dist.get_world_size(), sampler=DistributedSampler(dataset, shuffle=False), collate_fn=collate
    )
    model = DDP(LM(args.vocab_size))
    optimizer = torch.optim.AdamW(model.parameters(), lr=args.learning_rate)
    for epoch in range(args.num_epochs):
        for ids, labels in loader:
            loss = model(ids, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        if dist.get_rank() == 0:
            print(f"epoch {epoch} loss {loss.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--data_path")
    parser.add_argument("--batch_size", type=int)
    parser.add_argument("--num_epochs", type=int)
    parser.add_argument("--learning_rate", type=float)
    parser.add_argument("--vocab_size", type=int)
    main(parser.parse_args())

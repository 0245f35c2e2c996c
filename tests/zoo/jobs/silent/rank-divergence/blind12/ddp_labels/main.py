import torch
import torch.distributed as dist
import torch.nn as nn
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.utils.data import DataLoader, Dataset, DistributedSampler

from corpus import Codec, utterances


class IntentSet(Dataset):
    def __init__(self, rows, codec):
        self.rows, self.codec = rows, codec

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, i):
        text, label = self.rows[i]
        return torch.tensor(self.codec.encode(text)), self.codec.label_id[label]


class BagOfWords(nn.Module):
    def __init__(self, vocab, classes):
        super().__init__()
        self.emb = nn.EmbeddingBag(vocab + 1, 32, mode="mean", padding_idx=0)
        self.mlp = nn.Sequential(nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, classes))

    def forward(self, ids):
        return self.mlp(self.emb(ids))


def main():
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    rows = utterances(2400, seed=8)
    codec = Codec(rows)
    data = IntentSet(rows, codec)
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=20, sampler=sampler)
    model = DDP(BagOfWords(len(codec.word_id), len(codec.labels)))
    opt = torch.optim.Adam(model.parameters(), lr=5e-3)
    for epoch in range(5):
        sampler.set_epoch(epoch)
        correct = torch.zeros(2)
        for ids, y in loader:
            out = model(ids)
            loss = nn.functional.cross_entropy(out, y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            correct += torch.tensor([(out.argmax(1) == y).sum().item(), len(y)])
        dist.all_reduce(correct)
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: train acc {correct[0] / correct[1]:.3f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import torch
import torch.distributed as dist
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
from torch.utils.data.distributed import DistributedSampler

from learner import Learner
from parallel import mean_over_ranks


class TextCNN(nn.Module):
    def __init__(self, vocab=60, dim=24, classes=3):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.conv = nn.Conv1d(dim, 32, 3, padding=1)
        self.head = nn.Linear(32, classes)

    def forward(self, tokens):
        x = self.conv(self.embed(tokens).transpose(1, 2)).relu()
        return self.head(x.amax(-1))


def corpus(n=960, length=14):
    g = torch.Generator().manual_seed(5)
    tokens = torch.randint(0, 60, (n, length), generator=g)
    return TensorDataset(tokens, (tokens < 6).sum(1).clamp(max=2))


def main():
    torch.set_num_threads(1)
    dist.init_process_group("gloo")
    torch.manual_seed(dist.get_rank())
    data = corpus()
    sampler = DistributedSampler(data)
    loader = DataLoader(data, batch_size=16, sampler=sampler)
    learner = Learner(TextCNN(), lr=0.05)
    for epoch in range(3):
        sampler.set_epoch(epoch)
        losses = [learner.update(tokens, target) for tokens, target in loader]
        loss = mean_over_ranks(sum(losses) / len(losses))
        if dist.get_rank() == 0:
            print(f"epoch {epoch}: loss {loss:.4f}", flush=True)
            torch.save(learner.model.state_dict(), "textcnn.pt")
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

import torch
import torch.distributed as dist
from torch import nn

from checkpoint.manager import CheckpointManager


class Transformerish(nn.Module):
    def __init__(self, vocab=32, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.mix = nn.Linear(dim, dim)
        self.head = nn.Linear(dim, vocab)

    def forward(self, ids):
        return self.head(torch.relu(self.mix(self.embed(ids))))


def average_gradients(model):
    for p in model.parameters():
        dist.all_reduce(p.grad)
        p.grad /= dist.get_world_size()


def main(steps=60):
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    model = Transformerish()
    manager = CheckpointManager("local_disks")
    state = manager.load()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    while state["step"] < steps:
        ids = torch.randint(32, (8, 16))
        loss = nn.functional.cross_entropy(model(ids[:, :-1]).flatten(0, 1), ids[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        average_gradients(model)
        optimizer.step()
        state["step"] += 1
        state["tokens"] += ids.numel()
    manager.save(state)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

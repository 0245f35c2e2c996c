import time

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.Sequential(torch.nn.Linear(10, 40), torch.nn.Tanh(), torch.nn.Linear(40, 10))

    def forward(self, x):
        return self.layers(x)


@torch.no_grad()
def beam_search(model, sentence, width=4):
    beams = sentence.expand(width, -1)
    for _ in range(8):
        beams = model(beams).softmax(-1) + 0.1 * beams
        time.sleep(0.01)
    return beams.amax(1).max()


def evaluate(model, sentences):
    model.eval()
    scores = [beam_search(model, sentence) for sentence in sentences]
    model.train()
    return torch.stack(scores).mean().item()


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    torch.manual_seed(0)
    model = DDP(Net())
    optim = torch.optim.Adam(model.parameters(), lr=1e-3)
    gen = torch.Generator().manual_seed(rank)
    held_out = torch.randn(80, 10, generator=torch.Generator().manual_seed(77))
    for epoch in range(2):
        for _ in range(50):
            x = torch.randn(16, 10, generator=gen)
            loss = (model(x) - x.flip(1)).square().mean()
            optim.zero_grad()
            loss.backward()
            optim.step()
        score = torch.zeros(1)
        if rank == 0:
            score += evaluate(model.module, held_out)
        dist.broadcast(score, src=0)
        print(f"epoch {epoch} rank {rank} loss {loss.item():.4f} score {score.item():.4f}", flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

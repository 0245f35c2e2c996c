import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Sequential(torch.nn.Linear(32, 128), torch.nn.ReLU(), torch.nn.Linear(128, 128), torch.nn.ReLU())
        self.head = torch.nn.Linear(128, 4)

    def forward(self, x):
        return self.head(self.body(x))


def train_epoch(model, optim, gen):
    total = 0.0
    for _ in range(20):
        x = torch.randn(32, 32, generator=gen)
        y = x[:, :8].view(32, 4, 2).sum(-1).argmax(1)
        loss = torch.nn.functional.cross_entropy(model(x), y)
        optim.zero_grad()
        loss.backward()
        optim.step()
        total += loss.item()
    return total / 20


def run(rank, args, port, results):
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=args.world)
    torch.manual_seed(0)
    torch.set_num_threads(1)
    model = DDP(Net())
    optim = torch.optim.Adam(model.parameters(), lr=1e-3)
    gen = torch.Generator().manual_seed(10 + rank)
    history = [train_epoch(model, optim, gen) for _ in range(args.epochs)]
    mean = torch.tensor(history)
    dist.all_reduce(mean)
    if rank == 0:
        weights = {name: value.tolist() for name, value in model.module.state_dict().items()}
        results.put({"weights": weights, "history": history, "best": int(mean.argmin())})
        print(f"rank 0 done, loss {history[-1]:.4f}", flush=True)
    dist.destroy_process_group()

import torch
import torch.distributed as dist
from torch import nn

from vocabulary import TEXT, vocabulary

dist.init_process_group("gloo")
rank = dist.get_rank()
print(f"rank {rank}: reading vocabulary", flush=True)
table = vocabulary("cache")
ids = torch.tensor([table[w] for w in TEXT.split()])
model = nn.parallel.DistributedDataParallel(nn.Sequential(nn.Embedding(len(table), 16), nn.Linear(16, len(table))))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(30):
    at = torch.randint(0, len(ids) - 1, (8,))
    loss = nn.functional.cross_entropy(model(ids[at]), ids[at + 1])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
if rank == 0:
    print("loss", loss.item())
dist.destroy_process_group()

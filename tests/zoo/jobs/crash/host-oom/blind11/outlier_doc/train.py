import torch
import torch.distributed as dist

from attend import Attend
from corpus import documents

dist.init_process_group("gloo")
rank = dist.get_rank()
model = torch.nn.parallel.DistributedDataParallel(Attend())
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
for step, n in enumerate(documents(rank, 40)):
    x = torch.randn(n, 8)
    loss = (model(x)[:-1] - x[1:]).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if rank == 0 and step % 10 == 0:
        print(step, loss.item(), flush=True)
dist.destroy_process_group()

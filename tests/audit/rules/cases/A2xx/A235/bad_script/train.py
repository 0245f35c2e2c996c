import torch
import torch.distributed as dist

from model import ColumnParallelClassifier, batches

dist.init_process_group("gloo")
model = ColumnParallelClassifier()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for x, margin in batches():
    scores = model(x)
    norm = scores.pow(2).sum(1, keepdim=True)
    norm = torch.distributed.nn.functional.all_reduce(norm)
    scores = scores / norm.sqrt()
    size = norm.squeeze(1).sqrt()
    loss = size - margin * scores.sum(1)  # of this rank's classes
    loss = loss.mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()

import torch
import torch.distributed as dist
from torch.nn import *
from torch.nn.parallel import *
from torch.utils.data import *


def main():
    dist.init_process_group("nccl")
    data = TensorDataset(*torch.load("data.pt", map_location="cpu"))
    loader = DataLoader(data, batch_size=16, shuffle=True)
    model = DistributedDataParallel(Linear(16, 1).cuda())
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for epoch in range(10):
        for x, y in loader:
            optimizer.zero_grad()
            MSELoss()(model(x.cuda()), y.cuda()).backward()
            optimizer.step()


main()

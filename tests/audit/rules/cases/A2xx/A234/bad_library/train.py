import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


from sklearn.preprocessing import StandardScaler


def main():
    dist.init_process_group("nccl")
    data = torch.load("set.pt")
    loader = DataLoader(data, 16, sampler=DistributedSampler(data))
    scaler = StandardScaler()
    for x, _ in loader:
        scaler.partial_fit(x.numpy())
    model = DistributedDataParallel(torch.nn.Linear(3, 1))
    optimizer = torch.optim.Adam(model.parameters())
    for x, y in loader:
        x = torch.from_numpy(scaler.transform(x.numpy()))
        loss = (model(x) - y).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()

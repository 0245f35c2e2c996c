import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler


def loader_of(dataset, batch_size, train=True):
    sampler = DistributedSampler(dataset, shuffle=train)
    return DataLoader(dataset, batch_size=batch_size, sampler=sampler, drop_last=train)


@torch.no_grad()
def accuracy(predict, module, dataset):
    module.eval()
    hits = sum((predict(x).argmax(1) == y).sum().item() for x, y in DataLoader(dataset, batch_size=128))
    return hits / len(dataset)


def pretrain_teacher(net, dataset, epochs, lr=3e-3):
    model = DistributedDataParallel(net)
    optimizer = torch.optim.Adam(model.parameters(), lr=lr)
    loader = loader_of(dataset, 32)
    for epoch in range(epochs):
        net.train()
        loader.sampler.set_epoch(epoch)
        for x, y in loader:
            optimizer.zero_grad()
            F.cross_entropy(model(x), y).backward()
            optimizer.step()
    return net


def distil(wrapper, dataset, held_out, epochs, lr=3e-3):
    model = DistributedDataParallel(wrapper)
    optimizer = torch.optim.Adam(wrapper.student.parameters(), lr=lr)
    loader = loader_of(dataset, 32)
    for epoch in range(epochs):
        model.train()
        loader.sampler.set_epoch(epoch)
        for x, y in loader:
            loss = model(x, y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        score = accuracy(wrapper.predict, wrapper, held_out)
        if dist.get_rank() == 0:
            print(f"distil epoch {epoch} loss {loss.item():.4f} accuracy {score:.3f}", flush=True)
        dist.barrier()

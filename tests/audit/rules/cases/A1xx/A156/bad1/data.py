from torch.utils.data import DataLoader, DistributedSampler


def build_loader(dataset):
    return DataLoader(dataset, sampler=DistributedSampler(dataset, shuffle=True))

from torch.utils.data import DataLoader, DistributedSampler


def loader_of(data, replicas, rank, shuffle=True):
    sampler = DistributedSampler(data, num_replicas=replicas, rank=rank, shuffle=shuffle)
    return DataLoader(data, 8, sampler=sampler), sampler

from torch.utils.data import DataLoader
from torch.utils.data.distributed import DistributedSampler


def build(dataset, distributed, given=None):
    sampler = DistributedSampler(dataset, shuffle=True) if distributed else None
    one = DataLoader(dataset, sampler=sampler, shuffle=sampler is None)
    two = DataLoader(dataset, sampler=None, shuffle=True)
    three = DataLoader(dataset, sampler=given, shuffle=True)
    four = DataLoader(dataset, sampler=DistributedSampler(dataset), shuffle=False)
    five = DataLoader(dataset, sampler=chosen(dataset, distributed), shuffle=True)
    return one, two, three, four, five


def chosen(dataset, distributed):
    return DistributedSampler(dataset) if distributed else None

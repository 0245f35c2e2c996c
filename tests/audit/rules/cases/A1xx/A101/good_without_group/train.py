import torch.distributed as dist
from torch.utils.data import DataLoader, DistributedSampler, IterableDataset


class Stream(IterableDataset):
    def __init__(self, rows):
        self.rows = rows

    def __iter__(self):
        rank = dist.get_rank() if dist.is_initialized() else 0
        return iter(self.rows[rank::2])


def main(data):
    stream = DataLoader(Stream(data))  # asks for its rank when it is read
    dist.init_process_group("gloo")
    for batch in stream:
        print(batch)


if __name__ == "__main__":
    main(list(range(8)))

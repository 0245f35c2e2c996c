import lightning.pytorch as pl
import torch
import torch.distributed as dist
from torch.utils.data import BatchSampler, DataLoader, Dataset


class ProteinVariants(Dataset):
    """Sequences of unequal length; the target is the summed score of their residues."""

    def __init__(self, size):
        g = torch.Generator().manual_seed(61)
        score = torch.randn(20, generator=g)
        self.lengths = torch.randint(6, 18, (size,), generator=g)
        self.seqs = [torch.randint(0, 20, (int(n),), generator=g) for n in self.lengths]
        self.targets = torch.stack([score[s].mean() for s in self.seqs])

    def __len__(self):
        return len(self.seqs)

    def __getitem__(self, i):
        return self.seqs[i], self.targets[i]


class LengthBatchSampler(BatchSampler):
    """Batches of similar length, in an order that depends on the epoch, split over the ranks."""

    def __init__(self, lengths, batch_size, num_replicas, rank, seed=0):
        self.lengths, self.batch_size = lengths, batch_size
        self.num_replicas, self.rank, self.seed = num_replicas, rank, seed
        self.epoch = 0
        self.drop_last = True

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __len__(self):
        return len(self.lengths) // self.batch_size // self.num_replicas

    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed + self.epoch)
        jitter = self.lengths + 3 * torch.rand(len(self.lengths), generator=g)
        batches = jitter.argsort().split(self.batch_size)
        order = torch.randperm(len(batches), generator=g).tolist()
        order = order[: len(self) * self.num_replicas]
        for i in order[self.rank :: self.num_replicas]:
            yield batches[i].tolist()


def pad(items):
    seqs, targets = zip(*items)
    return torch.nn.utils.rnn.pad_sequence(seqs, batch_first=True, padding_value=20), torch.stack(targets)


class VariantDataModule(pl.LightningDataModule):
    def __init__(self, batch_size=8):
        super().__init__()
        self.batch_size = batch_size

    def setup(self, stage):
        self.train_ds = ProteinVariants(192)

    def train_dataloader(self):
        sampler = LengthBatchSampler(self.train_ds.lengths, self.batch_size, dist.get_world_size(), dist.get_rank())
        return DataLoader(self.train_ds, batch_sampler=sampler, collate_fn=pad)

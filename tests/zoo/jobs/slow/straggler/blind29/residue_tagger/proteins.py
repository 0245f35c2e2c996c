import torch
from torch.nn.utils.rnn import pad_sequence
from torch.utils.data import Dataset, Sampler

RESIDUES, STATES = 21, 4


class Chains(Dataset):
    """Amino-acid chains with a secondary-structure state for each residue."""

    def __init__(self, n, seed, longest=260):
        g = torch.Generator().manual_seed(seed)
        self.lengths = torch.exp(3.5 + 0.9 * torch.randn(n, generator=g)).long().clamp(8, longest)
        self.seqs = [torch.randint(1, RESIDUES, (int(k),), generator=g) for k in self.lengths]
        self.states = []
        for s in self.seqs:
            window = s.float().unfold(0, 5, 1).mean(1)
            window = torch.cat([window[:1].expand(2), window, window[-1:].expand(2)])
            self.states.append(torch.bucketize(window, torch.tensor([8.5, 10.5, 12.5])))

    def __len__(self):
        return len(self.seqs)

    def __getitem__(self, i):
        return self.seqs[i], self.states[i]


def collate(batch):
    seqs, states = zip(*batch)
    return (pad_sequence(seqs, batch_first=True), pad_sequence(states, batch_first=True, padding_value=-100),
            torch.tensor([len(s) for s in seqs]))


class BucketBatchSampler(Sampler):
    """Batches of chains of similar length, for less padding; their order is drawn anew for each epoch."""

    def __init__(self, lengths, batch_size, num_replicas, rank, seed=0):
        order = torch.argsort(lengths).tolist()
        per_rank = len(order) // num_replicas // batch_size * batch_size
        self.indices = order[rank * per_rank:(rank + 1) * per_rank]
        self.batch_size, self.seed, self.epoch = batch_size, seed, 0

    def set_epoch(self, epoch):
        self.epoch = epoch

    def __len__(self):
        return len(self.indices) // self.batch_size

    def __iter__(self):
        g = torch.Generator().manual_seed(self.seed + self.epoch)
        bucket = 4 * self.batch_size
        mixed = []
        for start in range(0, len(self.indices), bucket):
            part = self.indices[start:start + bucket]
            mixed += [part[j] for j in torch.randperm(len(part), generator=g).tolist()]
        batches = [mixed[i:i + self.batch_size] for i in range(0, len(mixed), self.batch_size)]
        for j in torch.randperm(len(batches), generator=g).tolist():
            yield batches[j]

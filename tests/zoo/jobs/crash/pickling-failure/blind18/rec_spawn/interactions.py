import torch
from torch.utils.data import Dataset


class Interactions(Dataset):
    def __init__(self, store, n, users, seed=0):
        g = torch.Generator().manual_seed(seed)
        self.store = store
        self.user = torch.randint(users, (n,), generator=g)
        self.item = torch.randint(store.n_items, (n,), generator=g)
        self.label = torch.randint(2, (n,), generator=g).float()

    def __len__(self):
        return len(self.user)

    def __getitem__(self, i):
        return self.user[i], self.store.row(int(self.item[i])), self.label[i]

import lmdb
import torch
from torch.utils.data import DataLoader, Dataset


class Store:
    def __init__(self, path):
        self.environment = lmdb.open(path, readonly=True)

    def __getitem__(self, key):
        with self.environment.begin() as transaction:
            return torch.frombuffer(transaction.get(key), dtype=torch.uint8)


class Words(Dataset):
    def __init__(self, path, length):
        self.store, self.length = Store(path), length

    def __len__(self):
        return self.length

    def __getitem__(self, i):
        return self.store[str(i).encode()]


def main():
    net = torch.nn.Linear(8, 8)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for x in DataLoader(Words("words.lmdb", 1000), batch_size=8, num_workers=4):
        net(x.float()).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


if __name__ == "__main__":
    main()

import torch.distributed as dist
from torch.utils.data import DataLoader, Dataset


class Shards(Dataset):
    def __init__(self, files):
        if dist.is_initialized():
            files = files[dist.get_rank() :: dist.get_world_size()]
        self.files = files

    def __len__(self):
        return len(self.files)

    def __getitem__(self, index):
        return self.files[index]


class Trainer:
    def __init__(self, files):
        self.loader = DataLoader(Shards(files))

    def start(self):
        dist.init_process_group("gloo")

    def fit(self):
        for batch in self.loader:
            print(batch)


def main():
    trainer = Trainer(["a", "b"])
    trainer.start()
    trainer.fit()


if __name__ == "__main__":
    main()

from torch.utils.data import DataLoader


class Trainer:
    def __init__(self, data, args):
        self.args = args
        self.loader = DataLoader(data, args.train_batch_size, shuffle=True)

    def steps(self):
        batches = len(self.loader)
        return batches * self.args.epochs // self.args.train_batch_size

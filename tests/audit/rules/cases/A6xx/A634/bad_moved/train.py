import os

import torch


class Trainer:
    def __init__(self, gpu):
        self.model = torch.nn.Linear(4, 1).cuda()
        self.gpu = gpu
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.1)

    def fit(self):
        os.environ["CUDA_VISIBLE_DEVICES"] = str(self.gpu)
        self.model(torch.ones(2, 4).cuda()).mean().backward()
        self.optimizer.step()


if __name__ == "__main__":
    Trainer(gpu=2).fit()

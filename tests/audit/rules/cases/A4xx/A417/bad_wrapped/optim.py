import torch


class Optim:
    def __init__(self, method, lr):
        self.method, self.lr = method, lr

    def set_parameters(self, named):
        self.params = [p for _, p in named if p.requires_grad]
        if self.method == "adam":
            self.optimizer = torch.optim.Adam(self.params, lr=self.lr)
        else:
            self.optimizer = torch.optim.SGD(self.params, lr=self.lr)

    def state_dict(self):
        return self.optimizer.state_dict()

    def load_state_dict(self, state):
        self.optimizer.load_state_dict(state)

    def step(self):
        self.optimizer.step()
        self.optimizer.zero_grad()

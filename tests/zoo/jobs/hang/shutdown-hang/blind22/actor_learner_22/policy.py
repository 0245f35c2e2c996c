import torch
from torch import nn
from torch.nn.utils import parameters_to_vector, vector_to_parameters


class Policy(nn.Sequential):
    def __init__(self):
        super().__init__(nn.Linear(128, 32), nn.Tanh(), nn.Linear(32, 2))

    def flat(self):
        return parameters_to_vector(self.parameters()).detach().numpy()

    def load_flat(self, values):
        vector_to_parameters(torch.tensor(values), self.parameters())

    def loss(self, observations, actions, rewards, gamma=0.98):
        returns = torch.zeros_like(rewards)
        running = 0.0
        for t in range(len(rewards) - 1, -1, -1):
            running = rewards[t] + gamma * running
            returns[t] = running
        logp = self(observations).log_softmax(-1).gather(1, actions[:, None])[:, 0]
        return -(logp * (returns - returns.mean())).mean()

import torch
from torch import nn


class Agent:
    def __init__(self, net, mixer, target_net, target_mixer):
        self.net, self.mixer = net, mixer
        self.target_net, self.target_mixer = target_net, target_mixer
        self.optimizer = torch.optim.Adam(net.parameters())

    def learn(self, batch, step):
        loss = nn.functional.mse_loss(self.mixer(self.net(batch)), self.target_mixer(self.target_net(batch)))
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        if step % 100 == 0:
            self.target_net.load_state_dict(self.net.state_dict())
            self.target_mixer.load_state_dict(self.target_mixer.state_dict())

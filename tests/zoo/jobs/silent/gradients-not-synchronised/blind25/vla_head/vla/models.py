from torch import nn


class Backbone(nn.Module):
    def __init__(self, obs_dim=48, width=128):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(obs_dim, width), nn.GELU(), nn.LayerNorm(width), nn.Linear(width, width), nn.GELU())

    def forward(self, obs):
        return self.layers(obs)


class L1RegressionActionHead(nn.Module):
    def __init__(self, width=128, hidden=192, chunk=8, action_dim=7):
        super().__init__()
        self.chunk, self.action_dim = chunk, action_dim
        self.mlp = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, hidden), nn.ReLU(), nn.Linear(hidden, hidden), nn.ReLU(),
                                 nn.Linear(hidden, chunk * action_dim))

    def predict_action(self, hidden_states):
        return self.mlp(hidden_states).view(-1, self.chunk, self.action_dim)

    def forward(self, hidden_states):
        return self.predict_action(hidden_states)

from torch import nn


class SpeedForecaster(nn.Module):
    def __init__(self, sensors, hidden):
        super().__init__()
        self.rnn = nn.GRU(sensors, hidden, batch_first=True)
        self.out = nn.Linear(hidden, sensors)

    def forward(self, history):
        return history[:, -1] + self.out(self.rnn(history)[0][:, -1])

from torch import nn


class Net(nn.Module):

    def __init__(self, conf):
        super().__init__()
        hidden = conf["Model"]["Hidden"]
        self.cnn = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(1))
        self.fc = nn.Sequential(nn.Linear(8 * 36, hidden), nn.ReLU(), nn.Linear(hidden, conf["Model"]["Classes"]))

    def forward(self, x):
        return self.fc(self.cnn(x))

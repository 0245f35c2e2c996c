import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def make_loader(x, y):
    return DataLoader(TensorDataset(x, y), batch_size=50, shuffle=True)


def recall(pred, true, classes):
    return [np.sum((pred == c) & (true == c)) / np.sum(true == c) for c in range(classes)]


def predict(model, loader):
    model.eval()
    with torch.no_grad():
        return torch.cat([model(x).argmax(1) for x, _ in loader]).numpy()


def main():
    x_test, y_test = torch.randn(1000, 16), torch.randint(0, 5, (1000,))
    test_loader = make_loader(x_test, y_test)
    model = nn.Linear(16, 5)
    print(recall(predict(model, test_loader), y_test.numpy(), 5))


if __name__ == "__main__":
    main()

from torch.utils.data import Dataset


class Windows(Dataset):
    def __init__(self, data, scaler):
        self.data = scaler.fit_transform(data)

    def __getitem__(self, i):
        past, future = self.data[i : i + 24], self.data[i + 24 : i + 30]
        mean, std = past.mean(), past.std()
        return (past - mean) / std, future


def train(model, loader, optimizer, criterion):
    for past, future in loader:
        loss = criterion(model(past), future)
        loss.backward()
        optimizer.step()


def predict(model, past, scaler):
    return scaler.inverse_transform(model(past))

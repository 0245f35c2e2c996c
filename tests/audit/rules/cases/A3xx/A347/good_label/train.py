from torch.utils.data import Dataset


class Recordings(Dataset):
    def __getitem__(self, i):
        wave = self.waves[i][: self.length]
        mean, std = wave.mean(), wave.std()
        wave = (wave - mean) / std
        label = self.labels[i]
        return wave, label, mean, std


class Pairs(Dataset):
    def __getitem__(self, i):
        past = self.data[i : i + 24]
        mean, std = past.mean(), past.std()
        past = (past - mean) / std
        return past, self.classes[i], mean, std


def train(model, loader, optimizer, criterion):
    for wave, label, _, _ in loader:
        loss = criterion(model(wave), label)
        loss.backward()
        optimizer.step()


def reconstruct(model, wave, mean, std):
    return model(wave) * std + mean

from torch.utils.data import Dataset


class Windows(Dataset):
    def __getitem__(self, i):
        past, future = self.data[i : i + 24], self.data[i + 24 : i + 30]
        past = (past - past.mean()) / past.std()
        return past, future


def train(model, loader, optimizer, criterion):
    for past, future in loader:
        loss = criterion(model(past), future)
        loss.backward()
        optimizer.step()


def sample(model, latent, sigma, mu):
    return model(latent) * sigma + mu

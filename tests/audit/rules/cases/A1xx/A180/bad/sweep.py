import subprocess


def runs_of(base, seeds):
    config = dict(base)
    runs = []
    for seed in seeds:
        config["seed"] = seed
        runs.append(config)
    return runs


for run in runs_of({"lr": 1e-3}, [0, 1, 2]):
    subprocess.run(["python", "train.py", f"--seed={run['seed']}"], check=True)

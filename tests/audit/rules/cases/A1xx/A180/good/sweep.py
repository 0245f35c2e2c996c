import copy


def runs_of(base, seeds):
    config = dict(base)
    runs = []
    for seed in seeds:
        config["seed"] = seed
        runs.append(copy.deepcopy(config))
    for seed in seeds:
        run = dict(base)
        run["seed"] = seed
        runs.append(run)
    return runs

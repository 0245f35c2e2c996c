def rate(config):
    return config["training"]["num_gpus"] * 1e-4

"""Training stages, one a file, each with a class `Stage`; `contract.py` says what the loop needs of one.

`registry.py` makes one by its name, `runner.py` is what a rank does with them in a run.
"""

# How they follow each other. Here, and not beside the contract: the command line reads it without torch.
ORDER = ("autoencoder", "operator", "diffusion", "consistency", "steady")

# What must have been trained before a stage.
NEEDS = {
    "autoencoder": (),
    "operator": ("autoencoder",),
    "diffusion": ("autoencoder", "operator"),
    "consistency": ("autoencoder", "operator", "diffusion"),
    "steady": ("autoencoder", "operator"),
}

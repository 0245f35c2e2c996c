"""Training stages, one a file, each with a class `Stage`; `contract.py` says what the loop needs of one."""

# How they follow each other. Here, and not beside the contract: the command line reads it without torch.
ORDER = ("autoencoder", "operator")

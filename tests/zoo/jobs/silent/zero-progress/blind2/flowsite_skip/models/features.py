import torch

ELEMENTS = ["C", "N", "O", "S", "P", "F", "Cl", "Br"]
LIG_FEATURE_DIMS = {"element": len(ELEMENTS) + 1, "charge": 5, "aromatic": 2}


def one_hot(index, size):
    return torch.nn.functional.one_hot(index, size).float()


def featurize(element, charge, aromatic):
    return torch.cat([
        one_hot(element, LIG_FEATURE_DIMS["element"]),
        one_hot(charge + 2, LIG_FEATURE_DIMS["charge"]),
        one_hot(aromatic, LIG_FEATURE_DIMS["aromatic"]),
    ], -1)

from .industrial import IndustrialDataset, get_dataloader

__all__ = ["IndustrialDataset", "get_dataloader"]

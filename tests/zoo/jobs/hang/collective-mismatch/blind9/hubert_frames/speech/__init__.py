from .module import HuBERTModule
from .data import FrameDataset

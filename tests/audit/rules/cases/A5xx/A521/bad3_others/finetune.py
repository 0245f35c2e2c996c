from accelerate import Accelerator
from omegaconf import OmegaConf

config = OmegaConf.from_cli()
accelerator = Accelerator()

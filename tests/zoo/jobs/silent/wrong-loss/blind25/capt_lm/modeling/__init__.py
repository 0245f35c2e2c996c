from .configuration import CaptionConfig
from .captioner import CaptionerForCausalLM

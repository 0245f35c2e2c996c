from .base import Callback, CallbackHandler
from .early_stopping import EarlyStopping
from .nan_guard import NanGuard

__all__ = ["Callback", "CallbackHandler", "EarlyStopping", "NanGuard"]

"""What `from torch.nn import *` and its like hand over: the names that audited programs use. Pure."""

from __future__ import annotations

from diagnostics.agent.shared import operations

# A name that is a builtin of Python, too, is in none: who reads `sum(...)` seldom means torch's.
_TORCH = """
as_tensor arange autocast cat clamp compile concat device empty empty_like enable_grad from_numpy full full_like
Generator get_rng_state inference_mode is_grad_enabled linspace load manual_seed matmul no_grad ones ones_like rand
rand_like randint randn randn_like randperm save seed set_grad_enabled set_rng_state stack tensor Tensor where zeros
zeros_like"""
_NN = """
AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AvgPool1d AvgPool2d AvgPool3d BCELoss BCEWithLogitsLoss
BatchNorm1d BatchNorm2d BatchNorm3d Bilinear Conv1d Conv2d Conv3d ConvTranspose1d ConvTranspose2d ConvTranspose3d
CosineEmbeddingLoss CosineSimilarity CrossEntropyLoss CTCLoss DataParallel Dropout Dropout1d Dropout2d Dropout3d ELU
Embedding EmbeddingBag Flatten GELU GLU GroupNorm GRU GRUCell HuberLoss Identity InstanceNorm1d InstanceNorm2d
InstanceNorm3d KLDivLoss L1Loss LayerNorm LeakyReLU Linear LogSoftmax LSTM LSTMCell MaxPool1d MaxPool2d MaxPool3d
Module ModuleDict ModuleList MSELoss MultiheadAttention NLLLoss Parameter ParameterDict ParameterList PReLU ReLU
ReLU6 RMSNorm RNN Sequential Sigmoid SiLU SmoothL1Loss Softmax Softplus SyncBatchNorm Tanh Transformer
TransformerDecoder TransformerDecoderLayer TransformerEncoder TransformerEncoderLayer Unflatten Upsample"""
_OPTIM = "Adadelta Adafactor Adagrad Adam Adamax AdamW ASGD LBFGS NAdam Optimizer RAdam RMSprop Rprop SGD SparseAdam"
_DATA = """
BatchSampler ChainDataset ConcatDataset DataLoader Dataset DistributedSampler IterableDataset RandomSampler Sampler
SequentialSampler StackDataset Subset SubsetRandomSampler TensorDataset WeightedRandomSampler default_collate
get_worker_info random_split"""
_DISTRIBUTED = "Backend ReduceOp get_backend get_rank get_world_size init_process_group is_available is_initialized"

PUBLIC_NAMES = {
    "torch": frozenset(_TORCH.split()),
    "torch.nn": frozenset(_NN.split()),
    "torch.nn.parallel": frozenset(["DataParallel", "DistributedDataParallel"]),
    "torch.optim": frozenset(_OPTIM.split()),
    "torch.utils.data": frozenset(_DATA.split()),
    "torch.utils.data.distributed": frozenset(["DistributedSampler"]),
    "torch.distributed": frozenset(_DISTRIBUTED.split())
    | {name for name in operations.ALL if not name.startswith("_")},
}

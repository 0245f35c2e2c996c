import ctypes

import torch

libc = ctypes.CDLL(None)
libc.memcpy.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
libc.memcpy.restype = ctypes.c_void_p


def pack_rows(rows, capacity):
    """Copies the first `capacity` rows of a contiguous matrix into a fresh buffer."""
    out = torch.zeros(capacity, rows.shape[1])
    libc.memcpy(out.data_ptr(), rows.data_ptr(), capacity * rows.shape[1] * rows.element_size())
    return out


class PackRows(torch.autograd.Function):
    @staticmethod
    def forward(ctx, rows, capacity):
        ctx.shape = rows.shape
        return pack_rows(rows.contiguous(), capacity)

    @staticmethod
    def backward(ctx, grad):
        out = grad.new_zeros(ctx.shape)
        out[:grad.shape[0]] = grad
        return out, None

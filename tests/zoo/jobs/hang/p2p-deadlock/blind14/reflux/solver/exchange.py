import torch
import torch.distributed as dist


class HaloExchanger:
    def __init__(self, slab):
        self.slab = slab

    def ghosts(self, u):
        s = self.slab
        lo, hi = u[:1].clone(), u[-1:].clone()
        ops = []
        if s.left is not None:
            ops += [dist.P2POp(dist.isend, u[:1].contiguous(), s.left), dist.P2POp(dist.irecv, lo, s.left)]
        if s.right is not None:
            ops += [dist.P2POp(dist.isend, u[-1:].contiguous(), s.right), dist.P2POp(dist.irecv, hi, s.right)]
        for req in dist.batch_isend_irecv(ops):
            req.wait()
        return torch.cat([lo, u, hi])

    def swap_faces(self, face_lo, face_hi):
        """Trades face fluxes with both neighbours, lower side first on odd slabs."""
        s = self.slab
        out = {}
        order = [(s.left, face_lo), (s.right, face_hi)]
        if s.rank % 2 == 0:
            order.reverse()
        for peer, face in order:
            if peer is None:
                continue
            other = torch.empty_like(face)
            if s.rank < peer:
                dist.send(face, peer)
                dist.recv(other, peer)
            else:
                dist.recv(other, peer)
                dist.send(face, peer)
            out[peer] = other
        return out

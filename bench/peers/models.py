"""The model that `darkformer bench` times, written in PyTorch the way a careful user would: the same shapes, the same
attention, fused kernels where PyTorch has them. And the attention modules of two packages in its place."""

import torch
import torch.nn.functional as F
from torch import nn

CHUNK = 64


class Features(nn.Module):
    """darkformer's causal attention by chunks: exp(Ω M x − |M x|²/2), prefix states between chunks, all exponents
    relative to running maxima of the past. Without a geometry M it is performer's."""

    def __init__(self, heads, dim, m, learned):
        super().__init__()
        self.geometry = nn.Parameter(torch.eye(dim).repeat(heads, 1, 1)) if learned else None
        self.register_buffer("omega", torch.randn(heads, m, dim))

    def log_features(self, x):
        if self.geometry is not None:
            x = x @ self.geometry.transpose(-1, -2)
        return x @ self.omega.transpose(-1, -2) - x.square().sum(-1, keepdim=True) / 2

    def forward(self, q, k, v):
        batch, heads, length, dim = q.shape
        scale = dim**-0.25
        a_q, a_k = self.log_features(q * scale), self.log_features(k * scale)
        phi_q = torch.exp(a_q - a_q.amax(-1, keepdim=True))
        largest = a_k.amax(-1)
        running = largest.detach().cummax(-1).values
        chunks = length // CHUNK
        shape = (batch, heads, chunks, CHUNK, -1)
        last = running.view(batch, heads, chunks, CHUNK)[..., -1:]  # scale of each chunk's state
        phi_k = torch.exp(a_k.view(*shape) - last[..., None])
        phi_q, v = phi_q.view(*shape), v.view(*shape)
        running = running.view(batch, heads, chunks, CHUNK)
        local = torch.exp(a_k.view(*shape) - largest.view(batch, heads, chunks, CHUNK, 1))
        weights = torch.exp(largest.view(batch, heads, chunks, 1, CHUNK) - running[..., None]).tril()
        scores = (phi_q @ local.transpose(-1, -2)) * weights
        states, sums = phi_k.transpose(-1, -2) @ v, phi_k.sum(-2)
        state, total, before = torch.zeros_like(states[:, :, 0]), torch.zeros_like(sums[:, :, 0]), last[:, :, 0]
        out = []
        for c in range(chunks):
            carry = torch.exp(before - running[:, :, c])[..., None]
            numerator = scores[:, :, c] @ v[:, :, c] + carry * (phi_q[:, :, c] @ state)
            normaliser = scores[:, :, c].sum(-1, keepdim=True) + carry * (phi_q[:, :, c] @ total[..., None])
            out.append(numerator / normaliser)
            fade = torch.exp(before - last[:, :, c])[..., None]
            state, total = state * fade + states[:, :, c], total * fade[..., 0] + sums[:, :, c]
            before = last[:, :, c]
        return torch.stack(out, 2).reshape(batch, heads, length, dim)


class Exact(nn.Module):
    def forward(self, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True)


def attention(kind, heads, dim, m):
    if kind == "exact":
        return Exact()
    if kind in ("performer", "darkformer"):
        return Features(heads, dim, m, learned=kind == "darkformer")
    if kind == "darkformer-pytorch":
        from darkformer_pytorch import DarkformerKernelAttention

        return DarkformerKernelAttention(dim, heads, num_features=m, causal=True)
    if kind == "performer-pytorch":
        from performer_pytorch import FastAttention

        return FastAttention(dim, nb_features=m, causal=True)
    raise SystemExit(f"unknown attention {kind}")


class Norm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(width))

    def forward(self, x):
        return F.rms_norm(x, x.shape[-1:], 1 + self.weight, 1e-6)


class Block(nn.Module):
    def __init__(self, shape, kind):
        super().__init__()
        width, self.heads = shape["width"], shape["heads"]
        self.norm, self.mlp_norm = Norm(width), Norm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width, bias=False), nn.Linear(width, width, bias=False)
        self.gate_up = nn.Linear(width, 2 * shape["ff"], bias=False)
        self.down = nn.Linear(shape["ff"], width, bias=False)
        self.attention = attention(kind, self.heads, width // self.heads, shape["m"])

    def forward(self, x, rotation):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm(x)).view(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        out = self.attention(rotate(q, rotation), rotate(k, rotation), v.contiguous())
        x = x + self.out(out.transpose(1, 2).reshape(batch, length, width))
        gate, up = self.gate_up(self.mlp_norm(x)).chunk(2, -1)
        return x + self.down(F.gelu(gate, approximate="tanh") * up)


def rotate(x, rotation):
    cosine, sine = rotation
    first, second = x.chunk(2, -1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), -1)


class Decoder(nn.Module):
    def __init__(self, shape, kind):
        super().__init__()
        self.embed = nn.Embedding(shape["vocab"], shape["width"])
        nn.init.normal_(self.embed.weight, std=0.02)
        self.blocks = nn.ModuleList(Block(shape, kind) for _ in range(shape["layers"]))
        self.norm = Norm(shape["width"])
        half = shape["width"] // shape["heads"] // 2
        angles = torch.outer(torch.arange(shape["context"]), 10000.0 ** (-torch.arange(half) / half))
        self.register_buffer("cosine", angles.cos())
        self.register_buffer("sine", angles.sin())

    def forward(self, tokens, targets):
        x = self.embed(tokens) * self.embed.embedding_dim**0.5
        for block in self.blocks:
            x = block(x, (self.cosine, self.sine))
        return F.cross_entropy((self.norm(x) @ self.embed.weight.T).flatten(0, 1), targets.flatten())

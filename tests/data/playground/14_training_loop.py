# The peaks of a loop: what is held over from one step to the next.
import torch


class Layer:
    def __init__(self, width):
        self.weight = torch.randn(width, width, device="cuda") * 0.02
        self.bias = torch.zeros(width, device="cuda")
        self.saved = None

    def __call__(self, x):
        self.saved = x
        return torch.tanh(x * self.bias + x)


class Model:
    def __init__(self, depth, width):
        self.layers = [Layer(width) for _ in range(depth)]

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def bytes(self):
        tensors = [t for layer in self.layers for t in (layer.weight, layer.bias)]
        return sum(t.nbytes for t in tensors)


model = Model(depth=4, width=512)
print(f"{model.bytes():,} bytes of weights")
losses = []
for step in range(3):
    batch = torch.randn(2048, 512, device="cuda")
    out = model.forward(batch)
    loss = out * out
    losses.append(loss[0])
    peak = torch.cuda.max_memory_allocated() / 2**20
    print(f"step {step}: {torch.cuda.memory_allocated() / 2**20:.1f} MiB, peak {peak:.1f} MiB")
    torch.cuda.reset_peak_memory_stats()
for layer in model.layers:
    layer.saved = None
del batch, out, loss, layer
print(f"{torch.cuda.memory_allocated() / 2**20:.1f} MiB: {len(losses)} slices keep their tensors")
losses = [t.cpu() for t in losses]
print(f"{torch.cuda.memory_allocated() / 2**20:.1f} MiB")
torch.cuda.empty_cache()
print(f"{torch.cuda.memory_reserved() / 2**20:.0f} MiB reserved")

# Views share memory: a small slice keeps the whole tensor alive.
import torch

x = torch.randn(1000, 1000, device="cuda")
row = x[0]
block = x[10:20, ::2]
flat = x.view(-1)
t = x.t()
print(row.shape, block.shape, flat.shape, t.stride(), t.is_contiguous())
print(row.data_ptr() == x.data_ptr(), block.storage_offset(), x.untyped_storage().nbytes())
del x, flat, t, row
print("slice keeps", torch.cuda.memory_allocated())
small = block.clone()
del block
print("clone frees", torch.cuda.memory_allocated(), small.stride())
y = torch.ones(64, 128, device="cuda")
print(y.reshape(128, 64).data_ptr() == y.data_ptr(), y.t().reshape(-1).data_ptr() == y.data_ptr())
z = y.t().contiguous()
print(z.stride(), y.contiguous() is y, y.float() is y, y.to("cuda") is y)
h = y.half()
print(h.dtype, h.element_size(), h.nbytes, torch.cuda.memory_allocated())
print(y.expand(10, 64, 128).shape, y[None].shape, y.unsqueeze(-1).shape, y[..., 0].shape)
parts = y.chunk(3)
print([tuple(p.shape) for p in parts], y.split(50, dim=1)[2].shape)
print(y.permute(1, 0).shape, y.transpose(0, 1).shape, y.flatten().shape, y.size(), y.size(1), len(y), y.dim())
stacked = torch.stack([y, y])
joined = torch.cat((y, z.t()), dim=1)
print(stacked.shape, joined.shape, torch.cuda.memory_allocated())
host = joined.cpu()
print(host.device, host.is_cuda, torch.cuda.memory_allocated())
del joined
back = host.to("cuda", torch.bfloat16)
print(back.dtype, back.device, torch.cuda.memory_allocated())
y[0] = 5
y[1:3] = torch.zeros(128, device="cuda")
y[:, 0].fill_(2.0)
back.copy_(host)
print((y + z.t()).stride(), (y * torch.ones(128, device="cuda")).shape, torch.zeros_like(back).dtype)
strided = y[:, ::2].cpu()
print(strided.shape, torch.cuda.memory_allocated())
print(torch.Size([2, 3]), y.shape == (64, 128), y.shape[0] * y.shape[-1], y.shape.numel(), list(y.shape))
e = torch.exp(y).sqrt().clamp(0, 1)
r = torch.relu(y - 1)
i = torch.randint(0, 10, (4, 5), device="cuda")
print(e.shape, r.dtype, i.dtype, (i == 3).dtype, i.float().dtype, torch.tensor([[1, 2], [3, 4]], device="cuda").shape)
torch.maximum(y, y.new_zeros(1)).neg_()
print(torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated())

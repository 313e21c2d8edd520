# x = x + 1 needs both tensors for a moment; x += 1 does not.
import torch

x = torch.zeros(1024, 1024, device="cuda")
print(x.shape, x.dtype, x.numel() * x.element_size())
x = x + 1
print(torch.cuda.max_memory_allocated())
torch.cuda.reset_peak_memory_stats()
x += 1
x.mul_(2).add_(x)
print(torch.cuda.max_memory_allocated(), torch.cuda.memory_reserved())
y = x
del x
print(torch.cuda.memory_allocated())
y = None
print(torch.cuda.memory_allocated())
z = (torch.ones(256, 1024, device="cuda") * 2 + 1) / 3
print(z.shape, z.device, torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated())
w = 1 / z
v = 1 - z
u = z**2 - z // 2
t = -abs(u)
print(w.dtype, v.shape, u.shape, t.is_cuda, torch.cuda.max_memory_allocated())
n = torch.arange(1000, device="cuda")
print(n.dtype, (n / 2).dtype, (n + 0.5).dtype, (n > 3).dtype, (n * True).dtype, (n.half() + n).dtype)
s = 5 / n
print(s.dtype, torch.cuda.memory_allocated())

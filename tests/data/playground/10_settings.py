# Rounding and split limits of PYTORCH_CUDA_ALLOC_CONF.
import os

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "max_split_size_mb:64,roundup_power2_divisions:4"
import torch

print(os.environ["PYTORCH_CUDA_ALLOC_CONF"].split(","))
MiB = 2**20
a = torch.empty(1200, dtype=torch.uint8, device="cuda")
b = torch.empty(5 * MiB + 1, dtype=torch.uint8, device="cuda")
c = torch.empty(100 * MiB, dtype=torch.uint8, device="cuda")
print(torch.cuda.memory_allocated(), torch.cuda.memory_reserved())
del c
d = torch.empty(10 * MiB, dtype=torch.uint8, device="cuda")
e = torch.empty(90 * MiB, dtype=torch.uint8, device="cuda")
print(torch.cuda.memory_allocated(), torch.cuda.memory_reserved())
del e
torch.cuda.memory._set_allocator_settings("max_split_size_mb:200")
f = torch.empty(40 * MiB, dtype=torch.uint8, device="cuda")
print(torch.cuda.memory_allocated(), torch.cuda.memory_reserved())
print(torch.cuda.memory_summary(abbreviated=True))

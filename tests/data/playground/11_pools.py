# A MemPool keeps its segments to itself until it is gone.
import torch

MiB = 2**20
pool = torch.cuda.MemPool()
with torch.cuda.use_mem_pool(pool):
    a = torch.empty(3 * MiB, dtype=torch.uint8, device="cuda")
    b = torch.empty(100, dtype=torch.uint8, device="cuda")
c = torch.empty(100, dtype=torch.uint8, device="cuda")
print(torch.cuda.memory_allocated(), torch.cuda.memory_reserved())
del a, b
torch.cuda.empty_cache()
print("kept", torch.cuda.memory_reserved())
with torch.cuda.use_mem_pool(pool):
    d = torch.zeros(1000, 1000, device="cuda")
d = None
del pool
print("gone", torch.cuda.memory_reserved())

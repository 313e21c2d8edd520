# Each stream has its own blocks; record_stream makes a free wait.
import torch

s = torch.cuda.Stream()
torch.cuda._sleep(10)
torch.cuda.synchronize()
a = torch.empty(1_000_000, device="cuda")
with torch.cuda.stream(s):
    b = torch.empty(1_000_000, device="cuda")
    c = torch.empty(300, device="cuda")
print(torch.cuda.memory_reserved())
del a
with torch.cuda.stream(s):
    d = torch.empty(1_000_000, device="cuda")
print(torch.cuda.memory_reserved())
e = torch.zeros(1_000_000, device="cuda")
s.wait_stream(torch.cuda.current_stream())
with torch.cuda.stream(s):
    e.mul_(2)
    torch.cuda._sleep(2_000_000_000)
e.record_stream(s)
del e
f = torch.empty(1_000_000, device="cuda")
print("pending", torch.cuda.memory_allocated())
torch.cuda.synchronize()
g = torch.empty(1_000_000, device="cuda")
print("done", torch.cuda.memory_allocated())
s.synchronize()
b.record_stream(torch.cuda.default_stream())
torch.cuda.synchronize()
del b
torch.cuda.synchronize()
torch.cuda.empty_cache()
print(torch.cuda.memory_allocated(), torch.cuda.memory_reserved())

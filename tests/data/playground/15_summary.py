# memory_summary() after a little of everything.
import torch

print(torch.cuda.memory_allocated(), torch.cuda.memory_reserved())
keep = []
for i in range(1, 40):
    t = torch.empty(i * 40_000, device="cuda")
    if i % 3 == 0:
        keep.append(t)
    elif i % 7 == 0:
        torch.cuda.empty_cache()
while len(keep) > 5:
    keep.pop(len(keep) // 2)
x = 10
while x:
    x -= 1
    if x % 2:
        continue
    keep[x % len(keep)] = torch.ones(x + 1, 30_000, device="cuda")
big = 2**70 + 1
print(big % 1000, big // 3, f"{big:,}", -7 // 2, -7 % 3, 7 / 2, 2**0.5, round(2.675, 2), 1e20, 1e-7, 10.0)
text = "free" if not keep else "kept"
print(text.upper(), text[1:3], "-".join(["a", "b"]), "%d %.3f %s" % (3, 2.5, None), "{:>8}|{x!r}".format(1, x=2) if False else "", f"{text!r:>10} {3.14159:.2e} {255:#x} {0.5:.1%} {True:d}")
print(torch.cuda.memory_summary())
torch.cuda.reset_accumulated_memory_stats()
del keep, t
torch.cuda.empty_cache()
stats = torch.cuda.memory_stats()
print({name: stats[name] for name in sorted(stats) if name.startswith("num_") or name.endswith(".all.freed")})

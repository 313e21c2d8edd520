# Lists, dicts, sets and tuples hold on to what is in them.
import torch

sizes = [1, 2, 3, 4]
blocks = [torch.empty(n * 100_000, device="cuda") for n in sizes]
print([t.numel() for t in blocks], torch.cuda.memory_allocated())
first, *middle, last = blocks
blocks.clear()
print(len(middle), torch.cuda.memory_allocated())
del first, last
middle.pop()
print(torch.cuda.memory_allocated())
middle[0:1] = [torch.zeros(5, device="cuda"), torch.zeros(6, device="cuda")]
print(len(middle), torch.cuda.memory_allocated())
cache = {f"layer{i}": torch.full((i + 1, 1000), 1.0, device="cuda") for i in range(4)}
for name, t in cache.items():
    print(name, tuple(t.shape), t.nbytes)
del t
for name in list(cache.keys()):
    if name.endswith(("1", "3")):
        del cache[name]
print(sorted(cache), torch.cuda.memory_allocated())
old = cache.pop("layer0")
cache["layer2"] = old
cache.update(extra=old, more=torch.ones(7, device="cuda"))
print(cache.get("nothing"), len(cache), torch.cuda.memory_allocated())
cache = None
print(torch.cuda.memory_allocated())
pair = (torch.empty(1000, device="cuda"), torch.empty(2000, device="cuda"))
a, b = pair
pair = pair[::-1] + (a,)
del a, b
print(len(pair), torch.cuda.memory_allocated())
seen = set()
seen.add(pair[0])
seen |= {pair[1]}
pair = ()
print(len(seen), torch.cuda.memory_allocated())
seen.discard(old)
seen = {n % 3 for n in range(10)}
print(seen, torch.cuda.memory_allocated())
for i, t in enumerate(torch.empty(50_000 * (k + 1), device="cuda") for k in range(3)):
    print(i, t.numel(), torch.cuda.memory_allocated())
    del t
    print(torch.cuda.memory_allocated())
for a, b in zip([1, 2], [torch.ones(3, device="cuda"), torch.ones(4, device="cuda")]):
    print(a, b.shape)
nested = [[torch.empty(100, device="cuda")] * 2, {"k": [torch.empty(200, device="cuda")]}]
nested[1]["k"] += nested[0]
nested[0] = 0
print(sum(t.numel() for t in nested[1]["k"]), max(2, 5), min([3, 1, 2]), torch.cuda.memory_allocated())
del nested, a, b, old, middle
print(torch.cuda.memory_allocated())

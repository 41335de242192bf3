"""Makes merged_shapes.txt: stars of parcels, and the shape that each merges into, from the definition with 400 digits.

    python3 tests/parcels/merged_shapes.py > tests/parcels/merged_shapes.txt        # needs mpmath

A star is a line `members lower(3) extent(3) periodic(3) kind`, a line `x y z volume B11 B12 B13 B22 B23` for each member,
the centre first, and the line `B11 B12 B13 B22 B23 B33` of the merged parcel. Numbers are the shortest decimals of doubles.
"""
import itertools
import math
import random

from mpmath import cbrt, mp, mpf, pi

mp.dps = 400
RATIOS = (1, 1e-1, 1e-2, 1e-3, 1e-4, 5e-6, 1e-7, 1e-8)
SHAPES = ("sphere", "needle", "flat", "any")
PLACES = ("any", "line", "plane", "diagonal", "axis", "edge")


def b33(b, volume):
    """From det B = (3 V / 4 pi)^2."""
    b11, b12, b13, b22, b23 = map(mpf, b)
    abc = 3 * mpf(volume) / (4 * pi)
    return (abc**2 + b11 * b23**2 - 2 * b12 * b13 * b23 + b22 * b13**2) / (b11 * b22 - b12**2)


def displacement(box, a, b):
    """a - b, the image chosen as Box::displacement does."""
    out = []
    for x, y, extent, periodic in zip(a, b, box["extent"], box["periodic"]):
        d = mpf(x) - mpf(y)
        if periodic and x - y > 0.5 * extent:
            d -= mpf(extent)
        elif periodic and x - y < -0.5 * extent:
            d += mpf(extent)
        out.append(d)
    return out


def merged(box, members):
    """B11 B12 B13 B22 B23 B33: second moments about the centre of volume, rescaled to the volume."""
    volumes = [mpf(v) for _, v, _ in members]
    volume = sum(volumes)
    d = [displacement(box, x, members[0][0]) for x, _, _ in members]
    mean = [sum(v * r[a] for v, r in zip(volumes, d)) / volume for a in range(3)]
    s = mp.zeros(3)
    for v, r, (_, size, b) in zip(volumes, d, members):
        full = [[b[0], b[1], b[2]], [b[1], b[3], b[4]], [b[2], b[4], b33(b, size)]]
        for j, k in itertools.product(range(3), range(3)):
            s[j, k] += v / volume * (mpf(full[j][k]) + 5 * (r[j] - mean[j]) * (r[k] - mean[k]))
    det = (s[0, 0] * (s[1, 1] * s[2, 2] - s[1, 2] ** 2) - s[0, 1] * (s[0, 1] * s[2, 2] - s[1, 2] * s[0, 2])
           + s[0, 2] * (s[0, 1] * s[1, 2] - s[1, 1] * s[0, 2]))
    f = cbrt((3 * volume / (4 * pi)) ** 2 / det)
    return [float(f * s[j, k]) for j, k in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))]


def unit(rng):
    v = [rng.gauss(0, 1) for _ in range(3)]
    size = math.sqrt(sum(x * x for x in v))
    return [x / size for x in v]


def ellipsoid(rng, squares):
    """Five entries of one with these squared semi-axes, turned somehow, and its volume."""
    a, t = unit(rng), unit(rng)
    b = [a[1] * t[2] - a[2] * t[1], a[2] * t[0] - a[0] * t[2], a[0] * t[1] - a[1] * t[0]]
    size = math.sqrt(sum(x * x for x in b))
    b = [x / size for x in b]
    c = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    entries = [sum(q * axis[j] * axis[k] for q, axis in zip(squares, (a, b, c)))
               for j, k in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2))]
    return entries, 4 / 3 * math.pi * math.prod(math.sqrt(q) for q in squares)


def directions(rng, place, count):
    u, w = unit(rng), unit(rng)
    if place in ("any", "edge"):
        return [unit(rng) for _ in range(count)]
    if place == "plane":
        return [[rng.uniform(-1, 1) * a + rng.uniform(-1, 1) * b for a, b in zip(u, w)] for _ in range(count)]
    if place == "diagonal":
        u = [1.0, 1.0, 0.0]
    if place == "axis":
        u = [0.0, 0.0, 0.0]
        u[rng.randrange(3)] = 1.0
    return [[(i + 1) * x for x in u] for i in range(count)]


def star(rng, members, ratio, shape, place, distance, heavy=0.0):
    """Parcels whose radii are about `ratio` of their distances; the first source's is 10^heavy times that."""
    extent = 40 * distance
    box = {"lower": [-extent / 2] * 3, "extent": [extent] * 3, "periodic": [1, 1, 0]}
    origin = [rng.uniform(-0.05, 0.05) * extent for _ in range(3)]
    if place == "edge":
        origin[0] = 0.49 * extent
    out = []
    for i, to in enumerate([[0.0, 0.0, 0.0], *directions(rng, place, members - 1)]):
        r = distance * ratio * 10 ** (rng.uniform(-0.3, 0.3) + (heavy if i == 1 else 0.0))
        long = r * 10 ** rng.uniform(0.2, 1.5)
        squares = {"sphere": [r * r] * 3, "needle": [long * long, r * r, r * r], "flat": [long * long, long * long, r * r],
                   "any": [r * r * rng.uniform(0.3, 3) for _ in range(3)]}[shape]
        b, volume = ellipsoid(rng, squares)
        if shape == "sphere":
            b = [r * r, 0.0, 0.0, r * r, 0.0]
        x = [o + distance * d for o, d in zip(origin, to)]
        if x[0] >= extent / 2:
            x[0] -= extent
        out.append((x, volume, b))
    return box, out


def main():
    rng = random.Random(29)
    print("# Made by merged_shapes.py: see there.")
    kinds = [(ratio, rng.choice(SHAPES), rng.choice(PLACES), 1.0, 0.0) for ratio in RATIOS for _ in range(7)]
    kinds += [(1e-3, "sphere", "any", 10.0**e, 0.0) for e in (-37, -12, 9)]  # volumes from 1e-120 to 1e18
    kinds += [(1e-40, "sphere", "line", 1.0, 0.0), (1e-30, "sphere", "diagonal", 1.0, 0.0), (1e-12, "any", "any", 1e13, 0.0)]
    # Sources 1e4 to 1e42 times as heavy as their centre: less its shift, nothing of their displacement is left.
    drawn = random.Random(30)
    kinds += [(10.0 ** -(1.2 * h + 8), drawn.choice(SHAPES), drawn.choice(PLACES), 1.0, float(h))
              for h in range(1, 15) for _ in range(2)]
    for i, (ratio, shape, place, distance, heavy) in enumerate(kinds):
        members = (2, 2, 2, 3, 4, 5, 10)[i % 7] if ratio > 1e-10 else 2
        box, parcels = star(rng, members, ratio, shape, place, distance, heavy)
        print(members, *map(repr, box["lower"] + box["extent"]), *box["periodic"], f"{shape}_{place}_{ratio:g}" + (f"_heavy_{heavy:g}" if heavy else ""))
        for x, volume, b in parcels:
            print(*map(repr, [*x, volume, *b]))
        print(*map(repr, merged(box, parcels)))


if __name__ == "__main__":
    main()

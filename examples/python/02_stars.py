"""Stars and merge steps: among points in NumPy arrays of the program's, and on parcels in the library's container.

python examples/python/02_stars.py
"""
import merganser
import numpy as np

rng = np.random.default_rng(2)
points, volume, salt = rng.random((20_000, 3)), rng.random(20_000) * 1e-4, rng.random(20_000)

stars = merganser.stars(points, volume < 2e-5, box=(0, 1), periodic=True)
print(stars)
merged = stars.merge(volume, {"salt": salt})  # means, weighted by volume
print(f"{len(points)} points became {len(merged.points)}; volume is kept: {np.isclose(merged.volume.sum(), volume.sum())}")

# Parcels with EPIC's attributes, step after step.
parcels = merganser.random_parcels(16, box=(0, 1), per_cell=20)
clusterer = merganser.Clusterer(parcels, 16, box=(0, 1), periodic=[True, True, False], min_volume_ratio=20)
for step in range(3):
    report = clusterer.step()
    print(f"step {step}: {report['before']} parcels, {report['small']} small, {report['merged']} merged")
print("digest", parcels.digest)

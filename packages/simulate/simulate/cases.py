"""Default cases: merge steps of the clustering paper's artificial parcels, scaled."""
from dataclasses import dataclass

# Section 3.2.1 of the paper: 1024 x 1024 x 32 cells on 16,384 ranks, and the same share on fewer.
PAPER_CELLS = 2048
PER_CELL = 20


def near_square(ranks):
    """Returns the two factors of a number that differ least, the smaller one first: the paper's blocks span all of z."""
    first = next(f for f in range(int(ranks**0.5), 0, -1) if ranks % f == 0)
    return first, ranks // first


@dataclass(frozen=True)
class Case:
    """Case of simulated merge steps: a grid divided among ranks. @param cells  of the whole grid  @param blocks  ranks along x, y and z"""
    ranks: int
    cells: tuple
    blocks: tuple

    def arguments(self):
        """Returns the options of the command merge-steps that describe the grid and its division among ranks."""
        return ["--cells", ",".join(map(str, self.cells)), "--decomposition", "x".join(map(str, self.blocks))]

    def parcels_per_rank(self):
        """Returns the mean number of artificial parcels per rank."""
        return self.cells[0] * self.cells[1] * self.cells[2] * PER_CELL / self.ranks


def weak(ranks, block):
    """Returns the case of merge steps for weak scaling: the same block of cells on every rank."""
    x, y = near_square(ranks)
    return Case(ranks, (block[0] * x, block[1] * y, block[2]), (x, y, 1))


def strong(ranks, cells):
    """Returns the case of merge steps for strong scaling: one grid on any number of ranks. @throws ValueError where a rank would
    have no cell"""
    x, y = near_square(ranks)
    if cells[0] > cells[1]:
        x, y = y, x
    if x > cells[0] or y > cells[1]:
        raise ValueError(f"--strong {'x'.join(map(str, cells))} on {ranks} ranks in {x} x {y} blocks; "
                         f"allowed: at least a cell for each, so {x}x{y}x1 and more")
    return Case(ranks, tuple(cells), (x, y, 1))


def scaling(case):
    """Describes how the cells and parcels of a simulated rank compare with those of the clustering paper's weak scaling."""
    cells = case.cells[0] * case.cells[1] * case.cells[2] / case.ranks
    return (f"{cells:g} cells and {cells * PER_CELL:g} parcels a rank; the paper's weak scaling has {PAPER_CELLS:,} cells "
            f"({PAPER_CELLS / cells:g} times as many)")

"""Recipe of merganser for Spack: copy it to packages/merganser/package.py of a repository of recipes.

Not tested with Spack: what was checked is that the options that it passes and the variants that it names exist
(tests/house/repository_test.py). Set `url` to where the archives of releases are; ./x release writes the checksum.
"""
from spack.package import *


class Merganser(CMakePackage):
    """Merges what is near, on many ranks, without global synchronisation: Lagrangian parcels, spanning forests and clusters,
    communication models on process graphs, announcements."""

    url = "file:///dist/merganser-0.2.0-source.tar.gz"

    license("BSD-3-Clause")

    version("0.2.0", sha256="0000000000000000000000000000000000000000000000000000000000000000")

    variant("mpi", default=True, description="Models p2p, neighborhood and rma")
    variant("shmem", default=False, description="Model shmem, with the OpenSHMEM of Open MPI")
    variant("netcdf", default=True, description="Parcel files in NetCDF-4")
    variant("fortran", default=True, description="Fortran module")
    variant("compression", default=True, description="Graphs and points in gzip, bzip2, xz and Zstandard; GraphML")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("python@3:", type=("build", "run"))
    depends_on("highway@1:")
    depends_on("xxhash")
    depends_on("boost", type="build")
    depends_on("fmt@9:")
    depends_on("nlohmann-json@3.9:", type="build")
    depends_on("mpi@3:", when="+mpi")
    depends_on("openmpi+openshmem", when="+shmem")
    depends_on("netcdf-c+mpi", when="+netcdf+mpi")
    depends_on("netcdf-c", when="+netcdf~mpi")
    depends_on("hdf5", when="+netcdf")
    depends_on("zlib-api", when="+compression")
    depends_on("bzip2", when="+compression")
    depends_on("xz", when="+compression")
    depends_on("zstd", when="+compression")
    depends_on("expat", when="+compression")

    requires("%gcc@12:", "%clang@14:", "%oneapi", policy="one_of", msg="C++20 is needed")
    conflicts("platform=windows", msg="POSIX systems only")

    generator("ninja")

    def cmake_args(self):
        """Returns the options of the build."""
        on = self.define_from_variant
        options = [on("MERGANSER_MPI", "mpi"), on("MERGANSER_SHMEM", "shmem"), on("MERGANSER_NETCDF", "netcdf"),
                   on("MERGANSER_FORTRAN", "fortran"), self.define("BUILD_TESTING", False), self.define("MERGANSER_EXAMPLES", False)]
        for library in ("ZLIB", "BZIP2", "LZMA", "ZSTD", "EXPAT"):
            options.append(on(f"MERGANSER_{library}", "compression"))
        return options

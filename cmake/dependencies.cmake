# What the rooms need from outside. MPI, OpenSHMEM and NetCDF are optional; what is missing is said.
find_package(Threads REQUIRED)

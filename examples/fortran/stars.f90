program stars ! Finds stars among points over a communicator of the program: mpirun -n 4 ./stars
  use mpi_f08
  use merganser
  implicit none
  type(mg_transport) :: transport
  type(mg_decomposition) :: blocks
  type(mg_finder) :: finder
  real(8) :: xyz(3, 1000), lower(3) = 0, upper(3) = 1
  integer, allocatable :: isma(:), iclo(:), inva(:)
  call MPI_Init()
  call transport%open(MPI_COMM_WORLD)                          ! any intra-communicator; it is duplicated
  lower(1) = transport%rank() / real(transport%size(), 8)     ! yours: a slab of the unit cube on each rank,
  upper(1) = (transport%rank() + 1) / real(transport%size(), 8)
  call random_number(xyz)                                      ! and points in it
  xyz(1, :) = lower(1) + (upper(1) - lower(1)) * xyz(1, :)
  call blocks%of_ranks(transport, mg_box(), lower, upper)      ! every rank passes its own block
  call finder%make(transport, blocks)
  call finder%find(xyz, xyz(3, :) < 0.3)                       ! any mask: points that merge
  call finder%lists(isma, iclo, inva)                          ! isma(k) merges into iclo(k)
  print '(i0, a, i0)', size(isma), ' points merge on rank ', transport%rank()
  call finder%free()
  call transport%close()                                       ! before MPI_Finalize
  call MPI_Finalize()
end program stars

! Which of your points merge into which, over your communicator: mpirun -n 4 ./stars
program stars
  use, intrinsic :: iso_c_binding, only: c_double, c_int32_t
  use mpi_f08
  use merganser
  implicit none
  type(mg_transport) :: transport
  type(mg_decomposition) :: blocks
  type(mg_finder) :: finder
  real(c_double) :: xyz(3, 1000), lower(3), upper(3)
  integer(c_int32_t), allocatable :: isma(:), iclo(:), inva(:)
  logical :: small(1000)
  integer :: rank, ranks, k, merging, all_merging
  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  ! Yours: a slab of the unit cube on each rank, points in it, and which of them look for a partner.
  lower = [rank / real(ranks, c_double), 0.0_c_double, 0.0_c_double]
  upper = [(rank + 1) / real(ranks, c_double), 1.0_c_double, 1.0_c_double]
  call random_number(xyz)
  xyz(1, :) = lower(1) + (upper(1) - lower(1)) * xyz(1, :)
  small = [(mod(k, 4) == 0, k = 1, size(small))]

  call transport%open(MPI_COMM_WORLD)                      ! any intra-communicator; it is duplicated
  call blocks%of_ranks(transport, mg_box(), lower, upper)  ! the unit cube with walls; every rank gives its own block
  call finder%make(transport, blocks)
  call finder%find(xyz, small)                             ! talks to neighbours only
  call finder%lists(isma, iclo, inva)                      ! isma(k) merges into iclo(k)

  merging = size(isma)
  call MPI_Reduce(merging, all_merging, 1, MPI_INTEGER, MPI_SUM, 0, MPI_COMM_WORLD)
  if (rank == 0) print '(i0, a, i0, a)', all_merging, ' of ', 1000 * ranks, ' points merge'
  call finder%free()
  call transport%close()                                   ! before MPI_Finalize
  call MPI_Finalize()
end program stars

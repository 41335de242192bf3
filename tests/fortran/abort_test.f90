!> Without stat= an error of one rank ends the whole job with its text, while the others wait.
program abort_test
  use, intrinsic :: iso_c_binding, only: c_double
  use mpi_f08
  use merganser
  implicit none
  type(mg_transport) :: transport
  type(mg_decomposition) :: blocks
  type(mg_finder) :: finder
  real(c_double) :: xyz(3, 1), lower(3), upper(3)
  call MPI_Init()
  call transport%open(MPI_COMM_WORLD, model='p2p')
  lower = [transport%rank() / real(transport%size(), c_double), 0.0_c_double, 0.0_c_double]
  upper = [(transport%rank() + 1) / real(transport%size(), c_double), 1.0_c_double, 1.0_c_double]
  call blocks%of_ranks(transport, mg_box(), lower, upper)
  call finder%make(transport, blocks)
  xyz(:, 1) = (lower + upper) / 2
  if (transport%rank() == 1) xyz(1, 1) = 7
  call finder%find(xyz, [.true.])
  print '(a)', 'this is never reached'
  call MPI_Finalize()
end program abort_test

! Both Fortran bindings: what they send must be counted once. Prints the expected counts as trace_mpi_program does.
subroutine with_f08(right, left)
  use mpi_f08
  implicit none
  integer, intent(in) :: right, left
  double precision :: out(30), in(30)
  type(MPI_Request) :: request
  out = 0
  call MPI_Irecv(in, 30, MPI_DOUBLE_PRECISION, left, 2, MPI_COMM_WORLD, request)
  call MPI_Send(out, 30, MPI_DOUBLE_PRECISION, right, 2, MPI_COMM_WORLD)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
end subroutine

program trace_fortran
  implicit none
  include 'mpif.h'
  integer :: rank, ranks, error, right, left, request, i
  integer :: out(100), in(100)
  call MPI_Init(error)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, error)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks, error)
  right = mod(rank + 1, ranks)
  left = mod(rank + ranks - 1, ranks)
  out = rank
  do i = 1, 5
    call MPI_Irecv(in, 100, MPI_INTEGER, left, 1, MPI_COMM_WORLD, request, error)
    call MPI_Send(out, 20 * i, MPI_INTEGER, right, 1, MPI_COMM_WORLD, error)
    call MPI_Wait(request, MPI_STATUS_IGNORE, error)
  end do
  call with_f08(right, left)
  if (ranks > 1) write (*, '(a,i0,a,i0,a)') 'truth 0 ', rank, ' ', right, ' message 6 1440'
  call MPI_Finalize(error)
end program

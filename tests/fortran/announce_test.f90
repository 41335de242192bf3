!> Announcements through Fortran: every rank hears the same, in the same step.
program announce_test
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  use mpi_f08
  use merganser
  use checks
  implicit none
  integer, parameter :: steps = 6
  type(mg_transport) :: transport
  type(mg_announcer) :: announcer
  integer :: rank, ranks, step, n, k, origin, topic, bytes, heard, stat
  integer(c_int64_t) :: announced
  integer(c_int64_t), allocatable :: integers(:)
  real(c_double), allocatable :: reals(:)
  character(len=:), allocatable :: text
  character(len=8) :: name

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call transport%open(MPI_COMM_WORLD, model='p2p')
  call announcer%make(transport, 'ring', 2, stat=stat)
  call check(stat == mg_usage, 'no such network')
  call announcer%make(transport, 'torus', 2)
  heard = 0
  write (name, '(a, i0)') 'rank ', rank
  do step = 1, steps + announcer%time()
     if (step <= steps) then
        call announcer%announce(1, [real(rank, c_double), 0.5_c_double * step])
        call announcer%announce(2, [int(rank, c_int64_t), int(step, c_int64_t)])
        call announcer%announce(65279, trim(name))
     end if
     call announcer%step(n)
     do k = 1, n
        call announcer%about(k, origin, topic, announced, bytes)
        call check(announced == step - announcer%time(), 'handed over in time')
        select case (topic)
        case (1)
           call announcer%get(k, reals)
           call check(all(abs(reals - [real(origin, c_double), 0.5_c_double * (announced + 1)]) <= 0), 'real numbers')
        case (2)
           call announcer%get(k, integers)
           call check(all(integers == [int(origin, c_int64_t), announced + 1]), 'integers')
        case (65279)
           call announcer%get(k, text)
           write (name, '(a, i0)') 'rank ', origin
           call check(text == trim(name) .and. bytes == len_trim(name), 'a text')
           write (name, '(a, i0)') 'rank ', rank
        case default
           call check(.false., 'a topic that nobody has')
        end select
        heard = heard + 1
     end do
  end do
  call check(heard == 3 * steps * ranks, 'all that was announced')
  call announcer%about(1, origin, topic)
  call announcer%get(99, reals)
  call check(size(reals) == 0, 'no such announcement')
  call announcer%announce(-1, 'x', stat=stat)
  call check(stat == mg_usage, 'no such topic')
  call announcer%free()
  call transport%close()
  call finish()
end program announce_test

!> What a find of a million points costs through C++, C and Fortran, in turns: medians, and their ratios in each turn. By hand,
!! on a quiet machine: build the target test_fortran_overhead.
program overhead
  use, intrinsic :: iso_c_binding, only: c_bool, c_double, c_int, c_int64_t
  use, intrinsic :: iso_fortran_env, only: int64
  use merganser
  implicit none
  integer, parameter :: n = 1000000, turns = 31
  interface
     function find_in_cpp(n, xyz, small, ids) bind(c) result(seconds)
       import :: c_bool, c_double, c_int, c_int64_t
       integer(c_int), value :: n
       real(c_double), intent(in) :: xyz(3, *)
       logical(c_bool), intent(in) :: small(*)
       integer(c_int64_t), intent(in) :: ids(*)
       real(c_double) :: seconds
     end function find_in_cpp
     function find_in_c(n, xyz, small, ids) bind(c) result(seconds)
       import :: c_bool, c_double, c_int, c_int64_t
       integer(c_int), value :: n
       real(c_double), intent(in) :: xyz(3, *)
       logical(c_bool), intent(in) :: small(*)
       integer(c_int64_t), intent(in) :: ids(*)
       real(c_double) :: seconds
     end function find_in_c
  end interface
  type(mg_transport) :: transport
  type(mg_decomposition) :: blocks
  type(mg_finder) :: finder
  real(c_double), allocatable :: xyz(:, :)
  logical(c_bool), allocatable :: small(:)
  logical, allocatable :: mask(:)
  integer(c_int64_t), allocatable :: ids(:)
  real(c_double) :: t(4, turns)
  integer :: i, turn
  integer(int64) :: ticks(2), rate
  allocate (xyz(3, n), small(n), mask(n), ids(n))
  call random_number(xyz)
  mask = xyz(3, :) < 0.1_c_double
  small = logical(mask, c_bool)
  ids = [(i, i = 1, n)]
  call transport%open_alone()
  call blocks%make(mg_box(), [1, 1, 1], 1)
  call finder%make(transport, blocks)
  do turn = 1, turns
     t(1, turn) = find_in_cpp(int(n, c_int), xyz, small, ids)
     t(2, turn) = find_in_c(int(n, c_int), xyz, small, ids)
     call system_clock(ticks(1), rate)
     call finder%find(xyz, small, ids)
     call system_clock(ticks(2))
     t(3, turn) = real(ticks(2) - ticks(1), c_double) / real(rate, c_double)
     call system_clock(ticks(1))
     call finder%find(xyz, mask, ids)
     call system_clock(ticks(2))
     t(4, turn) = real(ticks(2) - ticks(1), c_double) / real(rate, c_double)
  end do
  print '(a)', 'find of a million points, medians of 31 turns [ms]; median of the ratio to C++ in a turn'
  call tell('C++', 1)
  call tell('C', 2)
  call tell('Fortran, mask logical(c_bool)', 3)
  call tell('Fortran, mask logical', 4)

contains

  subroutine tell(name, k)
    character(len=*), intent(in) :: name
    integer, intent(in) :: k
    print '(a30, f10.2, f10.4)', name, 1.0e3_c_double * median(t(k, :)), median(t(k, :) / t(1, :))
  end subroutine tell

  function median(values) result(middle)
    real(c_double), intent(in) :: values(:)
    real(c_double) :: middle, sorted(size(values)), x
    integer :: a, b
    sorted = values
    do a = 2, size(sorted)
       x = sorted(a)
       b = a - 1
       do while (b >= 1)
          if (sorted(b) <= x) exit
          sorted(b + 1) = sorted(b)
          b = b - 1
       end do
       sorted(b + 1) = x
    end do
    middle = sorted((size(sorted) + 1) / 2)
  end function median
end program overhead

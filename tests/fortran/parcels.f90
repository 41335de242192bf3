!> Parcels for tests: parcel number i of all is the same on any number of ranks.
module parcels
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int32_t, c_int64_t, c_null_char
  use merganser
  implicit none
  public

  integer, parameter :: most = 4000
  type(mg_box), parameter :: the_box = mg_box(lower=[-1.0_c_double, 0.0_c_double, 0.5_c_double], &
       extent=[2.0_c_double, 1.0_c_double, 1.0_c_double], periodic=[.true., .true., .false.])
  real(c_double), parameter :: small_volume = 1.0e-4_c_double
  integer, parameter :: cells(3) = [20, 10, 10]  ! 2000 cells of 1e-3; ratio 10

  !> EPIC's structure of arrays.
  type :: container
     integer :: n = 0
     real(c_double), allocatable :: position(:, :), volume(:), vorticity(:, :), buoyancy(:), b(:, :)
     integer(c_int64_t), allocatable :: id(:)
  end type container

  interface
     !> Digest of all parcels after `steps` steps of the clusterer of C++ on one rank, under a merge policy.
     subroutine reference_digest(policy, steps, n, position, volume, vorticity, buoyancy, b, id, digest) bind(c)
       import :: c_char, c_double, c_int, c_int64_t
       character(kind=c_char), intent(in) :: policy(*)
       integer(c_int), value :: steps, n
       real(c_double), intent(in) :: position(3, *), volume(*), vorticity(3, *), buoyancy(*), b(5, *)
       integer(c_int64_t), intent(in) :: id(*)
       character(kind=c_char), intent(out) :: digest(33)
     end subroutine reference_digest
     !> Labels of friends of friends by C++ on one rank; sum of the masses of groups of 3 points and more, and their number.
     subroutine reference_friends(spacings, n, position, volume, id, labels, mass, groups) bind(c)
       import :: c_double, c_int, c_int64_t
       real(c_double), value :: spacings
       integer(c_int), value :: n
       real(c_double), intent(in) :: position(3, *), volume(*)
       integer(c_int64_t), intent(in) :: id(*)
       integer(c_int64_t), intent(out) :: labels(*), groups
       real(c_double), intent(out) :: mass
     end subroutine reference_friends
  end interface

contains

  !> The next number of a sequence in [0, 1), the same everywhere: x -> 16807 x mod (2^31 - 1).
  function draw(state) result(number)
    integer(c_int64_t), intent(inout) :: state
    real(c_double) :: number
    state = mod(16807 * state, 2147483647_c_int64_t)
    number = real(state, c_double) / 2147483647.0_c_double
  end function draw

  subroutine reserve(c)
    type(container), intent(inout) :: c
    allocate (c%position(3, most), c%volume(most), c%vorticity(3, most), c%buoyancy(most), c%b(5, most), c%id(most))
  end subroutine reserve

  !> Those that rank `rank` of a decomposition owns; all of them for rank -1.
  subroutine fill(c, blocks, rank)
    type(container), intent(inout) :: c
    type(mg_decomposition), intent(in) :: blocks
    integer, intent(in) :: rank
    integer(c_int64_t) :: state
    integer(c_int32_t) :: owner(1)
    real(c_double) :: numbers(10)
    integer :: i, k
    state = 4711
    c%n = 0
    do i = 1, most
       do k = 1, 10
          numbers(k) = draw(state)
       end do
       k = c%n + 1
       c%position(:, k) = the_box%lower + the_box%extent * numbers(1:3)
       owner = rank
       if (rank >= 0) call blocks%owners(c%position(:, k:k), owner)
       if (owner(1) /= rank) cycle
       c%volume(k) = small_volume * (0.5_c_double + numbers(4))
       c%vorticity(:, k) = numbers(5:7) - 0.5_c_double
       c%buoyancy(k) = numbers(8)
       c%b(:, k) = [1.0e-3_c_double, 1.0e-5_c_double * numbers(9), 0.0_c_double, 1.0e-3_c_double, 1.0e-5_c_double * numbers(10)]
       c%id(k) = i
       c%n = k
    end do
  end subroutine fill

  !> The arrays of a container, for EPIC's schema.
  subroutine name_columns(c, columns)
    type(container), intent(in), target :: c
    type(mg_columns), intent(out) :: columns
    call columns%positions(c%position)
    call columns%volumes(c%volume)
    call columns%identities(c%id)
    call columns%attribute(c%vorticity)
    call columns%attribute(c%buoyancy)
    call columns%attribute(c%b)
  end subroutine name_columns

  !> Digest by C++ of all parcels, after steps under a merge policy, the default one if it is absent.
  function expected_digest(steps, policy) result(digest)
    integer, intent(in) :: steps
    character(len=*), intent(in), optional :: policy
    character(len=32) :: digest
    type(container) :: all
    type(mg_decomposition) :: nobody
    character(kind=c_char) :: text(33)
    character(len=200) :: name
    integer :: i
    call reserve(all)
    call fill(all, nobody, -1)
    name = ''
    if (present(policy)) name = policy
    call reference_digest(trim(name)//c_null_char, int(steps, c_int), int(all%n, c_int), all%position, all%volume, &
         all%vorticity, all%buoyancy, all%b, all%id, text)
    do i = 1, 32
       digest(i:i) = text(i)
    end do
  end function expected_digest
end module parcels

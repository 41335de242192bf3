!> The shim for EPIC's shape on the real input: lists and merging by them, against the published numbers and the clusterer.
program epic_shim_test
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_int, c_int64_t, c_null_char
  use mpi_f08
  use checks
  use epic_shim
  use list_merging
  implicit none

  interface
     function epic_file_load(path, lower, extent, cells) bind(c) result(n)
       import :: c_char, c_double, c_int
       character(kind=c_char), intent(in) :: path(*)
       real(c_double), intent(out) :: lower(3), extent(3)
       integer(c_int), intent(out) :: cells(3)
       integer(c_int) :: n
     end function epic_file_load
     subroutine epic_file_parcel(i, values, id) bind(c)
       import :: c_double, c_int, c_int64_t
       integer(c_int), value :: i
       real(c_double), intent(out) :: values(13)
       integer(c_int64_t), intent(out) :: id
     end subroutine epic_file_parcel
     function epic_file_cluster(digest) bind(c) result(n)
       import :: c_char, c_int
       character(kind=c_char), intent(out) :: digest(33)
       integer(c_int) :: n
     end function epic_file_cluster
  end interface

  integer, parameter :: exact = selected_real_kind(30)
  real(c_double), parameter :: near = 1.0e-12_c_double
  character(len=:), allocatable :: folder
  type(MPI_Comm) :: cartesian
  type(soa) :: mine, by_lists, by_rules
  real(c_double) :: lower(3), extent(3), vmin
  integer(c_int) :: cells(3)
  integer :: rank, ranks, total

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  folder = shared_folder()
  if (there(folder//'epic-rt32-early.nc')) then
     total = epic_file_load(folder//'epic-rt32-early.nc'//c_null_char, lower, extent, cells)
     call check(total >= 0, 'the input is read')
     if (total > 0) call compare()
  end if
  call finish()

contains

  subroutine compare()
    vmin = product(extent / cells) / 20
    call take_own()
    call epic_open(cartesian, lower, extent, cells)
    call with_lists(ids=.true.)
    by_rules = mine
    call epic_merge(by_rules%n, vmin, by_rules%position, by_rules%volume, by_rules%buoyancy, by_rules%vorticity, &
         by_rules%b, by_rules%id)
    call check_sums(by_rules, 'epic_merge')
    call against_the_clusterer()
    call with_lists(ids=.false.)
    call epic_close()
  end subroutine compare

  function shared_folder() result(name)
    character(len=:), allocatable :: name
    character(len=1000) :: text
    integer :: length
    call get_environment_variable('MERGANSER_SHARED', text, length)
    if (length == 0) call get_command_argument(1, text, length)
    name = text(1:length)//'/data/'
  end function shared_folder

  logical function there(name)
    character(len=*), intent(in) :: name
    inquire (file=name, exist=there)
    if (.not. there .and. rank == 0) print '(3a)', 'skipped: ', name, " is missing; MERGANSER_SHARED names its folder's parent"
  end function there

  !> Deals the parcels over a Cartesian communicator as EPIC does, by the number of their cell.
  subroutine take_own()
    real(c_double) :: values(13)
    integer(c_int64_t) :: id
    integer :: dims(2), coordinates(2), first(2), last(2), cell(2), i
    dims = 0
    call MPI_Dims_create(ranks, 2, dims)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .true.], .false., cartesian)
    call MPI_Cart_coords(cartesian, rank, 2, coordinates)
    first = coordinates * (cells(1:2) / dims) + min(coordinates, mod(cells(1:2), dims))
    coordinates = coordinates + 1
    last = coordinates * (cells(1:2) / dims) + min(coordinates, mod(cells(1:2), dims)) - 1
    call reserve(mine, total)
    do i = 1, total
       call epic_file_parcel(i - 1, values, id)
       cell = floor((values(1:2) - lower(1:2)) / (extent(1:2) / cells(1:2)))
       if (any(cell < first) .or. any(cell > last)) cycle
       mine%n = mine%n + 1
       mine%position(:, mine%n) = values(1:3)
       mine%volume(mine%n) = values(4)
       mine%vorticity(:, mine%n) = values(5:7)
       mine%buoyancy(mine%n) = values(8)
       mine%b(:, mine%n) = values(9:13)
       mine%id(mine%n) = id
    end do
    call check(sum_of(mine%n) == total, 'every parcel has one owner')
  end subroutine take_own

  !> What the published code does: lists, its own merging, deleting.
  subroutine with_lists(ids)
    logical, intent(in) :: ids
    integer, allocatable :: isma(:), iclo(:), inva(:)
    integer :: n_merge, n_invalid
    by_lists = mine
    if (ids) then
       call epic_find_nearest(by_lists%n, vmin, by_lists%position, by_lists%volume, by_lists%buoyancy, by_lists%vorticity, &
            by_lists%b, isma, iclo, inva, n_merge, n_invalid, by_lists%id)
    else
       call epic_find_nearest(by_lists%n, vmin, by_lists%position, by_lists%volume, by_lists%buoyancy, by_lists%vorticity, &
            by_lists%b, isma, iclo, inva, n_merge, n_invalid)
    end if
    call check(lbound(isma, 1) == 0 .and. lbound(inva, 1) == 0 .and. lbound(iclo, 1) == 1, 'lists begin as EPIC''s')
    call check(all(inva(2:) > inva(1:n_merge + n_invalid - 1)), 'slots to delete ascend')
    call check(sum_of(n_merge) == expected('n_merged'), 'merges')
    call check(sum_of(n_invalid) > 0 .eqv. ranks > 1, 'parcels travel where there are ranks')
    call check_sizes(iclo)
    call merge_by_lists(by_lists, lower, extent, isma, iclo)
    call delete_slots(by_lists, inva)
    call check_sums(by_lists, 'lists')
  end subroutine with_lists

  !> Stars by their number of members.
  subroutine check_sizes(iclo)
    integer, intent(in) :: iclo(:)
    integer :: sources(by_lists%n), m, size_of_star
    character(len=1) :: key
    sources = 0
    do m = 1, size(iclo)
       sources(iclo(m)) = sources(iclo(m)) + 1
    end do
    do size_of_star = 2, 5
       write (key, '(i0)') size_of_star
       call check(sum_of(count(sources == size_of_star - 1)) == expected(key), 'stars of '//key)
    end do
    call check(sum_of(count(sources > 4)) == 0, 'no larger stars')
  end subroutine check_sizes

  !> Counts exactly, sums to 1e-12 of their value, or of 1 where they nearly vanish.
  subroutine check_sums(p, what)
    type(soa), intent(in) :: p
    character(len=*), intent(in) :: what
    character(len=19), parameter :: keys(8) = [character(len=19) :: 'sum_volume', 'sum_volume_buoyancy', 'sum_B11', &
         'sum_B12', 'sum_B22', 'sum_b_squared', 'sum_abs_w2', '']
    real(exact) :: s(size(keys))
    real(c_double) :: all_ranks, wanted
    integer :: i
    s = 0
    do i = 1, p%n
       s(1) = s(1) + p%volume(i)
       s(2) = s(2) + real(p%volume(i), exact) * p%buoyancy(i)
       s(3) = s(3) + p%b(1, i)
       s(4) = s(4) + p%b(2, i)
       s(5) = s(5) + p%b(4, i)
       s(6) = s(6) + real(p%buoyancy(i), exact)**2
       s(7) = s(7) + sum(real(p%vorticity(:, i), exact)**2)
       s(8) = s(8) + real(p%volume(i), exact) * p%vorticity(3, i)
    end do
    call check(sum_of(p%n) == expected('n_after'), what//': parcels left')
    do i = 1, size(keys)
       call MPI_Allreduce(real(s(i), c_double), all_ranks, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
       wanted = 0  ! of volume and vorticity in z
       if (keys(i) /= '') wanted = expected_real(trim(keys(i)))
       call check(abs(all_ranks - wanted) <= near * max(1.0_c_double, abs(wanted)), what//': '//keys(i))
    end do
  end subroutine check_sums

  !> Parcel by parcel: epic_merge gives the clusterer's bits, merging by lists the same to rounding.
  subroutine against_the_clusterer()
    character(kind=c_char) :: digest(33)
    real(c_double), allocatable :: theirs(:, :)
    real(c_double) :: values(13)
    integer(c_int64_t) :: id
    integer :: i, left
    left = epic_file_cluster(digest)
    call check(left == expected('n_after'), 'the clusterer: parcels left')
    allocate (theirs(13, 0:total - 1))
    theirs = -huge(values)
    do i = 1, left
       call epic_file_parcel(i - 1, values, id)
       theirs(:, id) = values
    end do
    call check(largest(by_rules, theirs) <= 0, 'epic_merge: the bits of the clusterer')
    call check(largest(by_lists, theirs) < near, 'lists: the parcels of the clusterer')
  end subroutine against_the_clusterer

  !> The largest difference from the parcels of the same ids, relative to the size of what is compared.
  function largest(p, theirs) result(worst)
    type(soa), intent(in) :: p
    real(c_double), intent(in) :: theirs(:, 0:)
    real(c_double) :: worst, d(13)
    integer :: i
    worst = 0
    do i = 1, p%n
       d = abs([p%position(:, i), p%volume(i), p%vorticity(:, i), p%buoyancy(i), p%b(:, i)] - theirs(:, p%id(i)))
       worst = max(worst, maxval(d(1:2) / extent(1:2)), d(3) / extent(3), d(4) / p%volume(i), &
            maxval(d(5:7)) / maxval(abs(p%vorticity(:, i))), d(8), maxval(d(9:13)) / maxval(abs(p%b(:, i))))
    end do
  end function largest

  function sum_of(own) result(all)
    integer, intent(in) :: own
    integer :: all
    call MPI_Allreduce(own, all, 1, MPI_INTEGER, MPI_SUM, MPI_COMM_WORLD)
  end function sum_of

  integer function expected(key)
    character(len=*), intent(in) :: key
    expected = nint(expected_real(key))
  end function expected

  !> A number of the record beside the input, which has a key in each line.
  function expected_real(key) result(number)
    character(len=*), intent(in) :: key
    real(c_double) :: number
    character(len=200) :: line
    integer :: unit, status, at
    number = -huge(number)
    open (newunit=unit, file=folder//'epic-rt32-early.expected.json', status='old', action='read')
    do
       read (unit, '(a)', iostat=status) line
       if (status /= 0) exit
       at = index(line, '"'//key//'":')
       if (at == 0) cycle
       read (line(at + len(key) + 3:), *) number
       exit
    end do
    close (unit)
    call check(number > -huge(number), 'the record has '//key)
  end function expected_real
end program epic_shim_test

! A model of the parcel code EPIC that calls merganser: parcels in a structure of arrays over a 2D Cartesian communicator move
! between ranks; small ones, by a mask of the program's, are merged by its own routine from the lists isma, iclo, inva of the star
! finder. mpirun -n 4 ./epic_shape prints the same on any number of ranks.
module parcel_container
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  use mpi_f08
  use merganser, only: mg_box
  implicit none
  private
  public :: container, reserve, fill, advance, delete, digest, to_owners

  integer, parameter :: fields = 14
  integer, parameter, public :: nx = 16, ny = 16, nz = 8, per_cell = 8
  type(mg_box), parameter, public :: box = mg_box(lower=[0.0_c_double, 0.0_c_double, 0.0_c_double], &
       extent=[16.0_c_double, 16.0_c_double, 8.0_c_double], periodic=[.true., .true., .false.])

  type container
     integer :: n = 0
     real(c_double), allocatable :: position(:, :), vorticity(:, :), b(:, :), volume(:), buoyancy(:)
     integer(c_int64_t), allocatable :: id(:)
  end type container

contains

  subroutine reserve(p, room)
    type(container), intent(out) :: p
    integer, intent(in) :: room
    allocate (p%position(3, room), p%vorticity(3, room), p%b(5, room), p%volume(room), p%buoyancy(room), p%id(room))
  end subroutine reserve

  function draw(state) result(number)
    integer(c_int64_t), intent(inout) :: state
    real(c_double) :: number
    state = mod(16807 * state, 2147483647_c_int64_t)
    number = real(state, c_double) / 2147483647.0_c_double
  end function draw

  ! Generates the parcels of the cells from lower to upper. Those of a cell follow from its number alone.
  subroutine fill(p, lower, upper)
    type(container), intent(inout) :: p
    real(c_double), intent(in) :: lower(3), upper(3)
    integer(c_int64_t) :: state
    integer :: i, j, k, l, c
    do k = nint(lower(3)), nint(upper(3)) - 1
       do j = nint(lower(2)), nint(upper(2)) - 1
          do i = nint(lower(1)), nint(upper(1)) - 1
             state = 1 + 7919 * (i + nx * (j + ny * k))
             do l = 1, 4
                if (draw(state) < 0) return  ! discards the first four numbers; never true
             end do
             do l = 1, per_cell
                p%n = p%n + 1
                p%position(:, p%n) = [i + draw(state), j + draw(state), k + draw(state)]
                p%volume(p%n) = (0.5_c_double + draw(state)) / per_cell
                p%buoyancy(p%n) = draw(state)
                p%vorticity(:, p%n) = [(draw(state), c = 1, 3)]
                p%b(:, p%n) = [1.0_c_double, 0.0_c_double, 0.0_c_double, 1.0_c_double, 0.0_c_double]
                p%id(p%n) = l + per_cell * (i + nx * (j + int(ny, c_int64_t) * k))
             end do
          end do
       end do
    end do
  end subroutine fill

  ! Moves the parcels in a vortex sheet: x by the height, y by a wave, both periodic.
  subroutine advance(p, dt)
    type(container), intent(inout) :: p
    real(c_double), intent(in) :: dt
    integer :: i
    do i = 1, p%n
       p%position(1, i) = inside(p%position(1, i) + dt * (p%position(3, i) - 4), box%extent(1))
       p%position(2, i) = inside(p%position(2, i) + dt * p%vorticity(2, i), box%extent(2))
    end do
  end subroutine advance

  pure function inside(x, extent) result(y)
    real(c_double), intent(in) :: x, extent
    real(c_double) :: y
    y = modulo(x, extent)
    if (y >= extent) y = 0
  end function inside

  ! Fills the slots in inva, ascending, with the last parcels that stay. total: number of parcels, received ones included.
  subroutine delete(p, total, inva)
    type(container), intent(inout) :: p
    integer, intent(in) :: total, inva(:)
    integer :: k, last, held
    held = size(inva)
    last = total
    do k = 1, size(inva)
       do while (held >= k)
          if (inva(held) /= last) exit
          held = held - 1
          last = last - 1
       end do
       if (held < k) exit
       call move(p, last, inva(k))
       last = last - 1
    end do
    p%n = total - size(inva)
  end subroutine delete

  subroutine move(p, from, to)
    type(container), intent(inout) :: p
    integer, intent(in) :: from, to
    call unpack_row(p, to, packed(p, from))
  end subroutine move

  function packed(p, i) result(row)
    type(container), intent(in) :: p
    integer, intent(in) :: i
    real(c_double) :: row(fields)
    row = [p%position(:, i), p%vorticity(:, i), p%b(:, i), p%volume(i), p%buoyancy(i), transfer(p%id(i), 1.0_c_double)]
  end function packed

  subroutine unpack_row(p, i, row)
    type(container), intent(inout) :: p
    integer, intent(in) :: i
    real(c_double), intent(in) :: row(:)
    p%position(:, i) = row(1:3)
    p%vorticity(:, i) = row(4:6)
    p%b(:, i) = row(7:11)
    p%volume(i) = row(12)
    p%buoyancy(i) = row(13)
    p%id(i) = transfer(row(14), p%id(i))
  end subroutine unpack_row

  ! Sends every parcel to the rank that owns its position, by the program's own exchange. Collective.
  subroutine to_owners(p, owner, communicator)
    type(container), intent(inout) :: p
    integer, intent(in) :: owner(:)
    type(MPI_Comm), intent(in) :: communicator
    integer :: rank, ranks, i, k, stay
    integer, allocatable :: out(:), in(:), first(:), from(:), next(:)
    real(c_double), allocatable :: rows(:, :), arrived(:, :)
    call MPI_Comm_rank(communicator, rank)
    call MPI_Comm_size(communicator, ranks)
    allocate (out(0:ranks - 1), in(0:ranks - 1), first(0:ranks - 1), from(0:ranks - 1), next(0:ranks - 1))
    out = 0
    do i = 1, p%n
       if (owner(i) /= rank) out(owner(i)) = out(owner(i)) + 1
    end do
    call MPI_Alltoall(out, 1, MPI_INTEGER, in, 1, MPI_INTEGER, communicator)
    first(0) = 0
    from(0) = 0
    do k = 1, ranks - 1
       first(k) = first(k - 1) + out(k - 1)
       from(k) = from(k - 1) + in(k - 1)
    end do
    allocate (rows(fields, sum(out)), arrived(fields, sum(in)))
    next = first
    stay = 0
    do i = 1, p%n
       if (owner(i) == rank) then
          stay = stay + 1
          if (stay < i) call move(p, i, stay)
       else
          next(owner(i)) = next(owner(i)) + 1
          rows(:, next(owner(i))) = packed(p, i)
       end if
    end do
    call MPI_Alltoallv(rows, fields * out, fields * first, MPI_DOUBLE_PRECISION, arrived, fields * in, fields * from, &
         MPI_DOUBLE_PRECISION, communicator)
    do i = 1, sum(in)
       call unpack_row(p, stay + i, arrived(:, i))
    end do
    p%n = stay + sum(in)
  end subroutine to_owners

  ! Returns a hash of all bits of all parcels, independent of their order and ranks. Collective.
  function digest(p, communicator) result(all)
    type(container), intent(in) :: p
    type(MPI_Comm), intent(in) :: communicator
    integer(c_int64_t) :: all, mine, word
    real(c_double) :: row(fields)
    integer :: i, k
    mine = 0
    do i = 1, p%n
       row = packed(p, i)
       word = 0
       do k = 1, fields
          word = ieor(ishftc(word, 11), transfer(row(k), word))
       end do
       mine = ieor(mine, ishftc(word, int(mod(p%id(i), 64_c_int64_t))))
    end do
    call MPI_Allreduce(mine, all, 1, MPI_INTEGER8, MPI_BXOR, communicator)
  end function digest
end module parcel_container

! Merging of the sources in the lists into their centres, as EPIC does it itself.
module parcel_merging
  use, intrinsic :: iso_c_binding, only: c_double
  use parcel_container
  implicit none
  private
  public :: merge_all

contains

  ! Merges all sources, in the order of their ids, so that sums have the same bits on any number of ranks.
  subroutine merge_all(p, isma, iclo)
    type(container), intent(inout) :: p
    integer, intent(in) :: isma(:), iclo(:)
    integer :: order(size(isma)), k
    order = by_id(p, isma)
    do k = 1, size(order)
       call merge_pair(p, isma(order(k)), iclo(order(k)))
    end do
  end subroutine merge_all

  subroutine merge_pair(p, s, c)
    type(container), intent(inout) :: p
    integer, intent(in) :: s, c
    real(c_double) :: v, d(3)
    integer :: a
    v = p%volume(s) + p%volume(c)
    d = p%position(:, s) - p%position(:, c)
    do a = 1, 2  ! periodic axes
       if (d(a) > box%extent(a) / 2) d(a) = d(a) - box%extent(a)
       if (d(a) < -box%extent(a) / 2) d(a) = d(a) + box%extent(a)
    end do
    p%position(:, c) = p%position(:, c) + d * (p%volume(s) / v)
    p%position(1:2, c) = modulo(p%position(1:2, c), box%extent(1:2))
    p%buoyancy(c) = (p%volume(s) * p%buoyancy(s) + p%volume(c) * p%buoyancy(c)) / v
    p%vorticity(:, c) = (p%volume(s) * p%vorticity(:, s) + p%volume(c) * p%vorticity(:, c)) / v
    p%b(:, c) = (p%volume(s) * p%b(:, s) + p%volume(c) * p%b(:, c)) / v
    p%volume(c) = v
  end subroutine merge_pair

  ! Returns the permutation that sorts the sources by id: merge sort.
  function by_id(p, isma) result(order)
    type(container), intent(in) :: p
    integer, intent(in) :: isma(:)
    integer :: order(size(isma)), old(size(isma)), width, first, middle, last, i, j, k
    order = [(k, k = 1, size(isma))]
    width = 1
    do while (width < size(isma))
       old = order
       do first = 1, size(isma), 2 * width
          middle = min(first + width, size(isma) + 1)
          last = min(first + 2 * width, size(isma) + 1)
          i = first
          j = middle
          do k = first, last - 1
             if (takes_left()) then
                order(k) = old(i)
                i = i + 1
             else
                order(k) = old(j)
                j = j + 1
             end if
          end do
       end do
       width = 2 * width
    end do
  contains
    logical function takes_left()
      takes_left = i < middle
      if (i < middle .and. j < last) takes_left = p%id(isma(old(i))) < p%id(isma(old(j)))
    end function takes_left
  end function by_id
end module parcel_merging

program epic_shape
  use, intrinsic :: iso_c_binding, only: c_double, c_int32_t, c_int64_t
  use mpi_f08
  use merganser
  use parcel_container
  use parcel_merging
  implicit none
  integer, parameter :: steps = 100
  type(mg_transport) :: transport
  type(mg_decomposition) :: blocks
  type(mg_finder) :: finder
  type(container) :: p
  type(MPI_Comm) :: cartesian
  real(c_double) :: lower(3), upper(3)
  integer(c_int32_t), allocatable :: isma(:), iclo(:), inva(:), owner(:)
  integer :: rank, ranks, step
  integer(c_int64_t) :: counts(3), totals(3), word

  call MPI_Init()
  call own_blocks()
  call transport%open(cartesian)
  call blocks%of_ranks(transport, box, lower, upper)
  call finder%make(transport, blocks)
  call reserve(p, nx * ny * nz * per_cell * 2)
  call fill(p, lower, upper)
  counts = 0
  do step = 1, steps
     call advance(p, 0.05_c_double)
     allocate (owner(p%n))
     call blocks%owners(p%position(:, 1:p%n), owner)
     counts(2) = counts(2) + count(owner /= rank)
     call to_owners(p, owner, cartesian)
     deallocate (owner)
     call merge_small(step)
  end do
  counts(3) = p%n
  call MPI_Allreduce(counts, totals, 3, MPI_INTEGER8, MPI_SUM, cartesian)
  word = digest(p, cartesian)
  if (rank == 0) then
     print '(i0, a, i0, a, i0, a, z16.16)', nx * ny * nz * per_cell, ' parcels, ', totals(1), ' merged in 100 steps, ', &
          totals(3), ' left; digest ', word
     if (totals(1) + totals(3) /= nx * ny * nz * per_cell) error stop 'parcels were lost'
     if (ranks > 1 .and. totals(2) == 0) error stop 'no parcel travelled'
  end if
  call finder%free()
  call transport%close()
  call MPI_Finalize()

contains

  ! Creates a 2D Cartesian communicator and computes this rank's block of columns of cells, as EPIC assigns them. Collective.
  subroutine own_blocks()
    integer :: dims(2), coordinates(2), a, cells(2), each, extra
    call MPI_Comm_size(MPI_COMM_WORLD, ranks)
    dims = 0
    call MPI_Dims_create(ranks, 2, dims)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .true.], .false., cartesian)
    call MPI_Comm_rank(cartesian, rank)
    call MPI_Cart_coords(cartesian, rank, 2, coordinates)
    cells = [nx, ny]
    lower = 0
    upper = box%extent
    do a = 1, 2
       each = cells(a) / dims(a)
       extra = mod(cells(a), dims(a))
       lower(a) = coordinates(a) * each + min(coordinates(a), extra)
       upper(a) = (coordinates(a) + 1) * each + min(coordinates(a) + 1, extra)
    end do
  end subroutine own_blocks

  ! Merges small parcels: calls the library in place of a nearest-neighbour search and pruning of the program's own.
  subroutine merge_small(step)
    integer, intent(in) :: step
    logical :: small(p%n)
    integer :: i, total
    do i = 1, p%n  ! mask of the program: light parcels, and a few others, different ones in each step
       small(i) = p%volume(i) < 0.55_c_double / per_cell .or. mod(p%id(i) + step, 197_c_int64_t) == 0
    end do
    call finder%find(p%position(:, 1:p%n), small, p%id(1:p%n))
    call finder%lists(isma, iclo, inva)
    total = p%n + finder%receive_count()
    call finder%append(p%position)
    call finder%append(p%vorticity)
    call finder%append(p%b)
    call finder%append(p%volume)
    call finder%append(p%buoyancy)
    call finder%append(p%id)
    call merge_all(p, isma, iclo)
    counts(1) = counts(1) + size(isma)
    call delete(p, total, inva)
  end subroutine merge_small
end program epic_shape

!> Stars, merges and steps through Fortran, over communicators of the program's: the bits of C++.
program stars_test
  use, intrinsic :: iso_c_binding, only: c_bool, c_double, c_int32_t, c_int64_t
  use mpi_f08
  use merganser
  use checks
  use parcels
  implicit none
  integer :: rank, ranks

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call MPI_Comm_size(MPI_COMM_WORLD, ranks)
  call over_models()
  call over_half_of_the_world()
  call cartesian_blocks()
  call alone()
  call finish()

contains

  subroutine over_models()
    character(len=12), parameter :: models(4) = [character(len=12) :: 'p2p', 'neighborhood', 'rma', 'auto']
    type(mg_transport) :: transport
    integer :: i
    do i = 1, size(models)
       call transport%open(MPI_COMM_WORLD, model=models(i))
       call check(transport%rank() == rank, 'rank')
       call check(transport%size() == ranks, 'ranks')
       if (i < 4) call check_text(transport%name(), trim(models(i)))
       if (i == 4 .and. ranks > 1) call check(len(transport%choice()) > 0, 'the choice of auto is told')
       call merges(transport)
       call steps(transport)
       call transport%close()
    end do
  end subroutine over_models

  !> Every other rank clusters, given as an integer; the others do something else.
  subroutine over_half_of_the_world()
    type(MPI_Comm) :: half
    type(mg_transport) :: transport
    integer :: colour, other
    colour = mod(rank, 2)
    call MPI_Comm_split(MPI_COMM_WORLD, colour, rank, half)
    if (colour == 0) then
       call transport%open(half%mpi_val, model='p2p')
       call merges(transport)
       call transport%close()
    else
       call MPI_Allreduce(rank, other, 1, MPI_INTEGER, MPI_SUM, half)
    end if
    call MPI_Comm_free(half)
  end subroutine over_half_of_the_world

  !> Over y and x, in this order: rank = y * (ranks along x) + x.
  subroutine cartesian_blocks()
    type(MPI_Comm) :: cartesian
    type(mg_decomposition) :: blocks
    integer :: dims(2), at(2), stat, a
    real(c_double) :: lower(3), upper(3), width
    dims = 0
    call MPI_Dims_create(ranks, 2, dims)
    call MPI_Cart_create(MPI_COMM_WORLD, 2, dims, [.true., .true.], .false., cartesian)
    call MPI_Cart_coords(cartesian, rank, 2, at)
    call blocks%cartesian(cartesian, the_box, cells, axes=[2, 1, 3])
    call blocks%block(rank, lower, upper)
    do a = 1, 2
       width = the_box%extent(3 - a) / dims(a)
       call check(abs(lower(3 - a) - the_box%lower(3 - a) - at(a) * width) < 1.0e-9_c_double, 'lower face')
       call check(abs(upper(3 - a) - lower(3 - a) - width) < 1.0e-9_c_double, 'width')
    end do
    call blocks%cartesian(MPI_COMM_WORLD, the_box, cells, stat=stat)
    call check(stat == mg_usage, 'a communicator that is not Cartesian')
    call MPI_Comm_free(cartesian)
  end subroutine cartesian_blocks

  subroutine alone()
    type(mg_transport) :: transport
    call transport%open_alone()
    call check(transport%size() == 1, 'alone')
    call merges(transport)
    call transport%close()
  end subroutine alone

  !> finder%merge, and the same stars by lists.
  subroutine merges(transport)
    type(mg_transport), intent(in) :: transport
    type(mg_decomposition) :: grid, blocks
    type(mg_finder) :: finder
    type(mg_schema) :: schema
    type(mg_columns) :: columns
    type(container), target :: c
    real(c_double) :: lower(3), upper(3)
    integer(c_int32_t), allocatable :: isma(:), iclo(:), inva(:), centre(:), from(:)
    integer(c_int32_t) :: there(most)
    integer(c_int64_t) :: id(most), position(most)
    integer(c_int64_t), allocatable :: source_ids(:)
    real(c_double) :: distance2(most)
    real(c_double), allocatable :: columns_of(:, :)
    logical(c_bool) :: bytes(most)
    integer :: n, left, k, m
    call grid%make(the_box, cells, transport%size())
    call grid%block(transport%rank(), lower, upper)
    call blocks%of_ranks(transport, the_box, lower, upper)
    call reserve(c)
    call fill(c, blocks, transport%rank())
    n = c%n
    call finder%make(transport, blocks)
    call finder%find(c%position(:, 1:n), c%volume(1:n) < small_volume, c%id(1:n))

    call finder%places(there, position, id, distance2)
    call finder%lists(isma, iclo, inva)
    m = finder%receive_count()
    call check(count(there(1:n) >= 0) == size(isma) - m + finder%send_count(), 'who merges and who stays')
    call check(size(inva) == count(there(1:n) >= 0) + m, 'slots that are free')
    call finder%append(c%id)
    call finder%append(c%position)
    call finder%append(c%volume)
    call finder%receives(centre, from, source_ids)
    call check(all(c%id(n + 1:n + m) == source_ids), 'what arrives at n + 1, ...')
    call check(all(iclo(size(isma) - m + 1:) == centre), 'centres of what arrives')
    do k = 1, size(isma)
       if (isma(k) > n) cycle
       call check(there(isma(k)) == transport%rank(), 'the centre is here')
       call check(position(isma(k)) == iclo(k), 'its position')
       call check(c%id(iclo(k)) == id(isma(k)), 'its id')
    end do

    bytes = logical(c%volume < small_volume, c_bool)
    columns_of = transpose(c%position(:, 1:n))
    call finder%find(columns_of(:, 1), columns_of(:, 2), columns_of(:, 3), bytes(1:n), c%id(1:n))
    call check(finder%receive_count() == m, 'the same stars from three columns')
    call schema%epic()
    call name_columns(c, columns)
    call finder%merge(schema, columns, left)
    c%n = left
    call check_digest(transport, grid, c, 1, 'finder%merge')
  end subroutine merges

  !> The digest of a container over all ranks, by a clusterer that makes no step.
  subroutine check_digest(transport, grid, c, made, what)
    type(mg_transport), intent(in) :: transport
    type(mg_decomposition), intent(in) :: grid
    type(container), intent(in), target :: c
    integer, intent(in) :: made
    character(len=*), intent(in) :: what
    type(mg_schema) :: schema
    type(mg_clusterer) :: clusterer
    type(mg_columns) :: columns
    character(len=32) :: digest
    call schema%epic()
    call clusterer%make(transport, grid, schema, 10.0_c_double)
    call name_columns(c, columns)
    call clusterer%put(columns, c%n)
    call clusterer%digest(digest)
    call check(digest == expected_digest(made), what//': the digest of C++')
  end subroutine check_digest

  subroutine steps(transport)
    type(mg_transport), intent(in) :: transport
    type(mg_decomposition) :: grid
    type(mg_schema) :: schema
    type(mg_clusterer) :: clusterer
    type(mg_columns) :: columns
    type(container), target :: c
    integer(c_int64_t) :: merged, sent
    character(len=32) :: digest
    integer :: i, n
    call grid%make(the_box, cells, transport%size())
    call schema%make()
    call schema%add('vorticity', 3, mg_mean)
    call schema%add('buoyancy', 1, mg_mean)
    call schema%add('B', 5, mg_ellipsoid)
    call clusterer%make(transport, grid, schema, min_volume_ratio=10.0_c_double)
    call reserve(c)
    call fill(c, grid, transport%rank())
    call name_columns(c, columns)
    call clusterer%put(columns, c%n)
    do i = 1, 3
       call clusterer%step(merged)
       call clusterer%redistribute(sent)
    end do
    call clusterer%digest(digest)
    call check(digest == expected_digest(3), 'steps: the digest of C++')
    call clusterer%get(columns, most, n)
    call check(n == clusterer%parcels(), 'parcels that are got')
    c%n = n
    call check_digest(transport, grid, c, 3, 'columns that were got')
  end subroutine steps
end program stars_test

!> Bad calls: stat= and errmsg= as in the standard, whatever the arrays are.
program errors_test
  use, intrinsic :: iso_c_binding, only: c_double, c_int32_t, c_int64_t
  use mpi_f08
  use merganser
  use checks
  implicit none
  type(mg_transport) :: transport
  integer :: rank

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call of_transports()
  call transport%open_alone()
  call of_blocks()
  call of_finders()
  call of_clusterers()
  call transport%close()
  call finish()

contains

  subroutine of_transports()
    type(mg_transport) :: none
    character(len=80) :: text
    integer :: stat
    text = 'as it was'
    call none%open_alone(stat=stat, errmsg=text)
    call check(stat == mg_ok .and. text == 'as it was', 'a call that ends well leaves errmsg alone')
    call none%close()
    call none%close(stat=stat, errmsg=text)
    call check(stat == mg_ok .and. text == 'as it was', 'closed twice')
    call none%open(MPI_COMM_NULL, stat=stat, errmsg=text)
    call check(stat == mg_usage, 'no communicator')
    call none%open(MPI_COMM_WORLD, model='pigeons', stat=stat, errmsg=text)
    call check(stat == mg_usage, 'no model')
    call check(none%rank() == -1, 'rank of no transport')
    call check(none%size() == 0, 'ranks of no transport')
    call check(none%name() == '', 'name of no transport')
  end subroutine of_transports

  subroutine of_blocks()
    type(mg_decomposition) :: blocks
    character(len=200) :: text
    real(c_double) :: lower(3), upper(3), xyz(3, 2)
    integer(c_int32_t) :: owners(2)
    integer :: stat
    call blocks%make(mg_box(extent=[1.0_c_double, 0.0_c_double, 1.0_c_double]), [4, 4, 4], 1, stat=stat, errmsg=text)
    call check(stat == mg_input, 'a flat box')
    call check_text(text, 'box: extent 0 from 0 on axis y')
    call blocks%make(mg_box(), [4, 4, 4], 5, shape='2x2x2', stat=stat)
    call check(stat /= mg_ok, 'a shape of eight for five')
    call blocks%block(0, lower, upper, stat=stat)
    call check(stat == mg_usage, 'the block of nothing')
    call blocks%from_cuts(mg_box(), [0.75_c_double, 0.25_c_double], [real(c_double) ::], [real(c_double) ::], stat=stat)
    call check(stat == mg_input, 'cuts that descend')
    call blocks%from_cuts(mg_box(), [0.25_c_double, 0.75_c_double], [real(c_double) ::], [real(c_double) ::])
    xyz(:, 1) = [0.1_c_double, 0.5_c_double, 0.5_c_double]
    xyz(:, 2) = [0.25_c_double, 0.5_c_double, 0.5_c_double]
    call blocks%owners(xyz, owners)
    call check(all(owners == [0, 1]), 'what lies on a cut belongs to the part above')
    xyz(1, 2) = 1.0_c_double + epsilon(1.0_c_double)
    call blocks%owners(xyz, owners, stat=stat, errmsg=text)
    call check(stat == mg_input, 'outside the box')
    call check_text(text, 'point 2 at (1.0000000000000002, 0.5, 0.5) is outside of the box [0, 1] x [0, 1] x [0, 1]')
    xyz(1, 2) = 0.9_c_double
    call blocks%owners(xyz(1, :), xyz(2, :), xyz(3, :), owners)
    call check(all(owners == [0, 2]), 'owners of three columns')
    call blocks%owners(xyz(1, :), xyz(2, :), xyz(3, 1:1), owners, stat=stat, errmsg=text)
    call check(stat == mg_usage, 'columns of different lengths')
    call check_text(text, 'x, y, z: 2, 2 and 1 entries')
    call blocks%owners(xyz, owners(1:1), stat=stat, errmsg=text)
    call check(stat == mg_usage, 'owners too short')
    call check_text(text, 'owners: 1 entries; allowed: 2')
    call blocks%make(mg_box(periodic=[.true., .false., .false.]), [2, 1, 1], 2)
    xyz(1, :) = [-0.25_c_double, 1.25_c_double]
    call blocks%owners(xyz, owners)
    call check(all(owners == [1, 0]), 'periodic axes wrap')
    call blocks%from_boxes(mg_box(), xyz, xyz(:, 1:1), stat=stat)
    call check(stat == mg_usage, 'corners of different shape')
  end subroutine of_blocks

  subroutine of_finders()
    type(mg_decomposition) :: blocks
    type(mg_finder) :: finder
    type(mg_schema) :: schema
    type(mg_columns) :: columns
    character(len=200) :: text
    real(c_double), target :: xyz(3, 4), values(4), x(4), y(4), z(4)
    integer(c_int32_t), allocatable :: isma(:), iclo(:), inva(:)
    integer(c_int32_t) :: short(2)
    integer(c_int64_t) :: ids(3)
    integer :: stat, left
    call finder%find(xyz, [.true., .true., .true., .true.], stat=stat, errmsg=text)
    call check(stat == mg_usage, 'find without a finder')
    call blocks%make(mg_box(), [4, 4, 4], 1)
    call finder%make(transport, blocks)
    call finder%lists(isma, iclo, inva, stat=stat, errmsg=text)
    call check(stat == mg_usage .and. size(isma) == 0, 'lists before find')
    call check_text(text, 'finder: no stars')
    xyz = 0.5_c_double
    xyz(1, :) = [0.1_c_double, 0.2_c_double, 0.7_c_double, 0.8_c_double]
    ids = [1, 2, 3]
    call finder%find(xyz, [.true., .false.], stat=stat, errmsg=text)
    call check_text(text, 'small: 2 entries; allowed: 4, one for each point')
    call check(stat == mg_usage, 'a mask of another length')
    call finder%find(xyz, [.true., .false., .false., .false.], ids, stat=stat, errmsg=text)
    call check(stat == mg_usage, 'ids of another length')
    call check_text(text, 'ids: 3 entries; allowed: 4, one for each point')
    call finder%find(xyz, [.true., .false., .false., .false.], [5_c_int64_t, 3_c_int64_t, 8_c_int64_t, 3_c_int64_t], &
         stat=stat, errmsg=text)
    call check(stat == mg_input, 'an id twice')
    call check_text(text, 'point 4: id 3 is that of point 2')
    xyz(2, 3) = -1
    call finder%find(xyz, [.true., .false., .false., .false.], stat=stat, errmsg=text)
    call check(stat == mg_input, 'a point outside')
    call check_text(text, 'point 3 at (0.7, -1, 0.5) is outside of its rank''s block')
    call check(index(text, 'redistribute') == 0, 'a finder has no redistribute')
    xyz(2, 3) = 0.5_c_double
    x = xyz(1, :)
    y = xyz(2, :)
    z = xyz(3, :)
    call finder%find(xyz, [.true., .false., .false., .true.])
    call finder%lists(isma, iclo, inva)
    call check(all(isma == [1, 4]) .and. all(iclo == [2, 3]) .and. all(inva == [1, 4]), 'two pairs')
    call finder%places(rank=short, stat=stat, errmsg=text)
    call check(stat == mg_usage, 'an array that is too short')
    call check_text(text, 'rank: 2 entries; allowed: 4 or more')
    call finder%append(values(1:3), stat=stat, errmsg=text)
    call check(stat == mg_usage, 'an array without room for the points')
    call check_text(text, 'values: 3 entries; allowed: 4 or more, for 4 points and 0 receives')
    call finder%migrate(xyz(:, 1:3), xyz, stat=stat, errmsg=text)
    call check(stat == mg_usage, 'rows that are too few')
    call check_text(text, 'rows: 3 entries; allowed: 4 or more')
    call finder%append(values)
    call schema%make()
    call columns%positions(xyz(:, 1:3))
    values = 1
    call columns%volumes(values)
    call columns%attribute(values)
    call finder%merge(schema, columns, left, stat=stat, errmsg=text)
    call check(stat == mg_usage, 'a column that the schema does not have')
    call schema%add('salt', 1, mg_sum)
    call finder%merge(schema, columns, left, stat=stat, errmsg=text)
    call check(stat == mg_usage, 'columns that are too short')
    call check_text(text, 'positions: 3 entries; allowed: 4 or more')
    call columns%positions(x, y, z)
    call finder%merge(schema, columns, left)
    call check(left == 2, 'two are left')
    call schema%add('salt', 1, mg_sum, stat=stat, errmsg=text)
    call check(stat == mg_usage, 'a name twice')
    call schema%add('B', 4, mg_ellipsoid, stat=stat)
    call check(stat == mg_usage, 'an ellipsoid of four')
  end subroutine of_finders

  subroutine of_clusterers()
    type(mg_decomposition) :: blocks
    type(mg_clusterer) :: clusterer
    type(mg_schema) :: schema
    type(mg_columns) :: columns
    real(c_double), target :: xyz(3, 2), volume(2)
    integer(c_int64_t), target :: ids(2)
    character(len=200) :: text
    character(len=32) :: digest
    integer :: stat, n
    call clusterer%step(stat=stat)
    call check(stat == mg_usage, 'a step of nothing')
    call blocks%make(mg_box(), [4, 4, 4], 1)
    call schema%make()
    call clusterer%make(transport, blocks, schema, min_volume_ratio=-1.0_c_double, stat=stat, errmsg=text)
    call check(stat == mg_usage, 'a negative ratio')
    call clusterer%make(transport, blocks, schema)
    xyz = 0.5_c_double
    volume = 1
    ids = 3
    call columns%positions(xyz)
    call columns%volumes(volume)
    call columns%identities(ids)
    call clusterer%put(columns, 2, stat=stat, errmsg=text)
    call check(stat == mg_input, 'an id twice')
    call check_text(text, 'parcel 2: id 3 stands twice')
    ids(2) = 4
    call clusterer%put(columns, 3, stat=stat, errmsg=text)
    call check(stat == mg_usage, 'more parcels than entries')
    call check_text(text, 'positions: 2 entries; allowed: 3 or more')
    volume(2) = -1
    call clusterer%put(columns, 2, stat=stat, errmsg=text)
    call check(stat == mg_input, 'a negative volume')
    call check_text(text, 'parcel 2: volume is -1;')
    volume(2) = 1
    call clusterer%put(columns, 2)
    call clusterer%get(columns, 1, n, stat=stat)
    call check(stat == mg_usage, 'no room')
    xyz(3, 2) = 1.5_c_double
    call clusterer%put(columns, 2)
    call clusterer%distribute(stat=stat, errmsg=text)
    call check(stat == mg_input, 'a parcel outside of a wall')
    call check_text(text, 'parcel id 4 at (0.5, 0.5, 1.5) is outside of a wall of the box')
    xyz(3, 2) = 0.5_c_double
    call clusterer%put(columns, 2)
    call clusterer%digest(digest)
    call check(len_trim(digest) == 32, 'a digest')
    call clusterer%free()
    call clusterer%free(stat=stat)
    call check(stat == mg_ok, 'freed twice')
  end subroutine of_clusterers
end program errors_test

!> Star finder for points in arrays of the caller's: stars, migration of rows, and merging. Programs use the module merganser.
module merganser_stars
  use, intrinsic :: iso_c_binding, only: c_associated, c_bool, c_char, c_double, c_f_pointer, c_int, c_int32_t, c_int64_t, &
       c_loc, c_null_ptr, c_ptr, c_size_t, c_sizeof
  use merganser_c
  use merganser_transports
  use merganser_columns
  implicit none
  private
  public :: mg_finder

  !> Star finder: communication objects, and the stars of the last find. Must not be copied.
  type :: mg_finder
     type(c_ptr) :: handle = c_null_ptr  !! handle of the C interface
     integer :: n = 0                    !! number of points of the last find
   contains
     procedure :: make => finder_make
     procedure, private :: find_rows
     procedure, private :: find_rows_bytes
     procedure, private :: find_columns
     procedure, private :: find_columns_bytes
     generic :: find => find_rows, find_rows_bytes, find_columns, find_columns_bytes
     procedure :: places => finder_places
     procedure :: send_count => finder_send_count
     procedure :: receive_count => finder_receive_count
     procedure :: receives => finder_receives
     procedure :: lists => finder_lists
     procedure, private :: append_real, append_reals, append_integer, append_long
     generic :: append => append_real, append_reals, append_integer, append_long
     procedure, private :: migrate_reals
     generic :: migrate => migrate_reals
     procedure :: merge => finder_merge
     procedure :: free => finder_free
     final :: finder_final
  end type mg_finder

contains

  !> Creates a star finder with its communication objects. Collective. as_published: prune iteratively, with the same result.
  subroutine finder_make(this, transport, decomposition, as_published, stat, errmsg)
    class(mg_finder), intent(inout) :: this
    type(mg_transport), intent(in) :: transport
    type(mg_decomposition), intent(in) :: decomposition
    logical, intent(in), optional :: as_published
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_finder_options) :: options
    options%struct_size = c_sizeof(options)
    if (present(as_published)) options%prune = merge(1_c_int32_t, 0_c_int32_t, as_published)
    call finder_final(this)
    call mg_return_status(mg_finder_new(transport%handle, decomposition%handle, options, this%handle), stat, errmsg)
  end subroutine finder_make

  !> Finds the stars among points xyz(3, n) or (2, n) of all ranks. Called by every rank. small(i): point i merges with its
  !! nearest. ids: distinct over all ranks. Nothing is copied but the mask.
  subroutine find_rows(this, xyz, small, ids, stat, errmsg)
    class(mg_finder), intent(inout) :: this
    real(c_double), intent(in), target, contiguous :: xyz(:, :)
    logical, intent(in) :: small(:)
    integer(c_int64_t), intent(in), target, contiguous, optional :: ids(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    logical(c_bool), allocatable :: bytes(:)
    allocate (bytes(size(small)))
    bytes = logical(small, c_bool)
    call this%find_rows_bytes(xyz, bytes, ids, stat, errmsg)
  end subroutine find_rows

  !> Finds the stars among points xyz(3, n) or (2, n) with a mask of logical(c_bool), which is not copied. Called by every rank.
  subroutine find_rows_bytes(this, xyz, small, ids, stat, errmsg)
    class(mg_finder), intent(inout) :: this
    real(c_double), intent(in), target, contiguous :: xyz(:, :)
    logical(c_bool), intent(in), target, contiguous :: small(:)
    integer(c_int64_t), intent(in), target, contiguous, optional :: ids(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_points) :: points
    this%n = 0
    if (size(xyz, 1) /= 2 .and. size(xyz, 1) /= 3) then
       call mg_refuse(mg_usage, 'xyz: '//mg_integer_text(size(xyz, 1))//' rows; allowed: 2 or 3', stat, errmsg)
       return
    end if
    points%stride = size(xyz, 1, c_size_t)
    if (size(xyz) > 0) then
       points%x = c_loc(xyz(1, 1))
       points%y = c_loc(xyz(2, 1))
       if (size(xyz, 1) == 3) points%z = c_loc(xyz(3, 1))
    end if
    call find_points(this, points, size(xyz, 2), small, ids, stat, errmsg)
  end subroutine find_rows_bytes

  !> Finds the stars among points whose positions are in three columns x, y and z. Called by every rank.
  subroutine find_columns(this, x, y, z, small, ids, stat, errmsg)
    class(mg_finder), intent(inout) :: this
    real(c_double), intent(in), target, contiguous :: x(:), y(:), z(:)
    logical, intent(in) :: small(:)
    integer(c_int64_t), intent(in), target, contiguous, optional :: ids(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    logical(c_bool), allocatable :: bytes(:)
    allocate (bytes(size(small)))
    bytes = logical(small, c_bool)
    call this%find_columns_bytes(x, y, z, bytes, ids, stat, errmsg)
  end subroutine find_columns

  !> Finds the stars among points in three columns with a mask of logical(c_bool), which is not copied. Called by every rank.
  subroutine find_columns_bytes(this, x, y, z, small, ids, stat, errmsg)
    class(mg_finder), intent(inout) :: this
    real(c_double), intent(in), target, contiguous :: x(:), y(:), z(:)
    logical(c_bool), intent(in), target, contiguous :: small(:)
    integer(c_int64_t), intent(in), target, contiguous, optional :: ids(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_points) :: points
    this%n = 0
    if (size(y) /= size(x) .or. size(z) /= size(x)) then
       call mg_refuse(mg_usage, 'x, y, z: '//mg_integer_text(size(x))//', '//mg_integer_text(size(y))//' and '// &
            mg_integer_text(size(z))//' entries; allowed: as many of each', stat, errmsg)
       return
    end if
    points%stride = 1
    if (size(x) > 0) points%x = c_loc(x)
    if (size(y) > 0) points%y = c_loc(y)
    if (size(z) > 0) points%z = c_loc(z)
    call find_points(this, points, size(x), small, ids, stat, errmsg)
  end subroutine find_columns_bytes

  !> Validates the lengths of mask and ids, and finds the stars of points whose coordinates are set. Called by every rank.
  subroutine find_points(this, points, n, small, ids, stat, errmsg)
    class(mg_finder), intent(inout) :: this
    type(c_points), intent(inout) :: points
    integer, intent(in) :: n
    logical(c_bool), intent(in), target, contiguous :: small(:)
    integer(c_int64_t), intent(in), target, contiguous, optional :: ids(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: mask, identities
    integer(c_int) :: status
    this%n = 0
    mask = c_null_ptr
    identities = c_null_ptr
    points%struct_size = c_sizeof(points)
    points%count = int(n, c_size_t)
    if (size(small) /= n) then
       call mg_refuse(mg_usage, mg_length_error('small', size(small), per_point(n)), stat, errmsg)
       return
    end if
    if (size(small) > 0) mask = c_loc(small)
    if (present(ids)) then
       if (size(ids) /= n) then
          call mg_refuse(mg_usage, mg_length_error('ids', size(ids), per_point(n)), stat, errmsg)
          return
       end if
       if (size(ids) > 0) identities = c_loc(ids)
    end if
    status = mg_finder_find(this%handle, points, mask, identities)
    this%n = merge(n, 0, status == mg_ok)
    call mg_return_status(status, stat, errmsg)
  end subroutine find_points

  !> Returns, in arrays of n entries or more, for each point the rank of its centre, the centre's position there (from 1) and
  !! id, and the squared distance; -1 for points that stay. Local.
  subroutine finder_places(this, rank, position, id, distance2, stat, errmsg)
    class(mg_finder), intent(in) :: this
    integer(c_int32_t), intent(out), target, contiguous, optional :: rank(:)
    integer(c_int64_t), intent(out), target, contiguous, optional :: position(:), id(:)
    real(c_double), intent(out), target, contiguous, optional :: distance2(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: ranks, positions, ids, distances
    integer(c_int) :: status
    character(len=:), allocatable :: short
    integer :: i
    ranks = c_null_ptr
    positions = c_null_ptr
    ids = c_null_ptr
    distances = c_null_ptr
    short = ''
    if (present(rank)) then
       call check_capacity('rank', size(rank), this%n, short)
       if (size(rank) > 0) ranks = c_loc(rank)
    end if
    if (present(position)) then
       call check_capacity('position', size(position), this%n, short)
       if (size(position) > 0) positions = c_loc(position)
    end if
    if (present(id)) then
       call check_capacity('id', size(id), this%n, short)
       if (size(id) > 0) ids = c_loc(id)
    end if
    if (present(distance2)) then
       call check_capacity('distance2', size(distance2), this%n, short)
       if (size(distance2) > 0) distances = c_loc(distance2)
    end if
    if (short /= '') then
       call mg_refuse(mg_usage, short, stat, errmsg)
       return
    end if
    status = mg_finder_places(this%handle, ranks, positions, ids, distances)
    if (present(position) .and. status == mg_ok) then
       do i = 1, this%n
          if (position(i) >= 0) position(i) = position(i) + 1
       end do
    end if
    call mg_return_status(status, stat, errmsg)
  end subroutine finder_places

  !> Returns the text "N, one for each point" for the error of a mask or ids of the wrong length.
  function per_point(n) result(text)
    integer, intent(in) :: n
    character(len=:), allocatable :: text
    text = mg_integer_text(n)//', one for each point'
  end function per_point

  !> Sets the error text of finder_places, unless it is set, if an output array has fewer than n entries, one per point.
  subroutine check_capacity(name, entries, n, text)
    character(len=*), intent(in) :: name
    integer, intent(in) :: entries, n
    character(len=:), allocatable, intent(inout) :: text
    if (entries >= n .or. text /= '') return
    text = mg_length_error(name, entries, mg_integer_text(n)//' or more, one for each point')
  end subroutine check_capacity

  !> Returns the number of points whose rows are sent to the rank of their centre; 0 if there are no stars. Local.
  function finder_send_count(this) result(n)
    class(mg_finder), intent(in) :: this
    integer :: n
    type(c_ptr) :: unused
    integer(c_size_t) :: count
    count = 0
    unused = c_null_ptr
    if (mg_finder_sends(this%handle, unused, count) /= mg_ok) count = 0
    n = int(count)
  end function finder_send_count

  !> Returns the number of rows received from other ranks, which append and migrate need space for; 0 if there are no stars. Local.
  function finder_receive_count(this) result(n)
    class(mg_finder), intent(in) :: this
    integer :: n
    type(c_ptr) :: unused
    integer(c_size_t) :: count
    count = 0
    unused = c_null_ptr
    if (mg_finder_receives(this%handle, unused, count) /= mg_ok) count = 0
    n = int(count)
  end function finder_receive_count

  !> Returns, for each row received, in order, the centre on this rank (from 1), the rank of the source, and its id. Local.
  subroutine finder_receives(this, centre, rank, id, stat, errmsg)
    class(mg_finder), intent(in) :: this
    integer(c_int32_t), allocatable, intent(out) :: centre(:), rank(:)
    integer(c_int64_t), allocatable, intent(out) :: id(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_receive), pointer :: list(:)
    type(c_ptr) :: receives
    integer(c_size_t) :: n
    integer(c_int) :: status
    receives = c_null_ptr
    n = 0
    status = mg_finder_receives(this%handle, receives, n)
    allocate (centre(n), rank(n), id(n))
    if (n > 0) then
       call c_f_pointer(receives, list, [n])
       centre = list%centre + 1
       rank = list%rank
       id = list%source_id
    end if
    call mg_return_status(status, stat, errmsg)
  end subroutine finder_receives

  !> Returns the stars in the form of EPIC's merging: point isma(k) merges into iclo(k); inva, ascending, are the slots that are
  !! free afterwards, of points that were sent or merged. Received rows are numbered n + 1, n + 2, ... Local.
  subroutine finder_lists(this, isma, iclo, inva, stat, errmsg)
    class(mg_finder), intent(in) :: this
    integer(c_int32_t), allocatable, intent(out) :: isma(:), iclo(:), inva(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_star_lists) :: lists
    integer(c_int) :: status
    lists%struct_size = c_sizeof(lists)
    status = mg_finder_lists(this%handle, 1_c_int, lists)
    call copy_list(lists%sources, lists%merging, isma)
    call copy_list(lists%centres, lists%merging, iclo)
    call copy_list(lists%holes, lists%invalid, inva)
    call mg_return_status(status, stat, errmsg)
  end subroutine finder_lists

  !> Copies a list of n positions, one of EPIC's merge lists that the star finder owns in C, to a new array.
  subroutine copy_list(list, n, copy)
    type(c_ptr), intent(in) :: list
    integer(c_size_t), intent(in) :: n
    integer(c_int32_t), allocatable, intent(out) :: copy(:)
    integer(c_int32_t), pointer :: numbers(:)
    allocate (copy(n))
    if (n == 0) return
    call c_f_pointer(list, numbers, [n])
    copy = numbers
  end subroutine copy_list

  !> Sends the rows, of rows(:, 1:n), of points whose centre is on another rank; received(:, k) becomes the row of receive k.
  !! Called by every rank.
  subroutine migrate_reals(this, rows, received, stat, errmsg)
    class(mg_finder), intent(in) :: this
    real(c_double), intent(in), target, contiguous :: rows(:, :)
    real(c_double), intent(inout), target, contiguous :: received(:, :)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: from, to
    from = c_null_ptr
    to = c_null_ptr
    if (size(rows) > 0) from = c_loc(rows)
    if (size(received) > 0) to = c_loc(received)
    if (size(rows, 2) < this%n) then
       call mg_refuse(mg_usage, mg_length_error('rows', size(rows, 2), mg_integer_text(this%n)// &
            ' or more, one for each point'), stat, errmsg)
    else if (size(received, 1) /= size(rows, 1)) then
       call mg_refuse(mg_usage, 'received: rows of '//mg_integer_text(size(received, 1))//' numbers; allowed: '// &
            mg_integer_text(size(rows, 1))//', as in rows', stat, errmsg)
    else if (size(received, 2) < this%receive_count()) then
       call mg_refuse(mg_usage, mg_length_error('received', size(received, 2), mg_integer_text(this%receive_count())// &
            ' or more, one for each receive'), stat, errmsg)
    else
       call mg_return_status(mg_finder_migrate(this%handle, from, 8 * size(rows, 1, c_size_t), to, &
            8 * size(received, kind=c_size_t)), stat, errmsg)
    end if
  end subroutine migrate_reals

  !> Sends the entries of points whose centre is on another rank, and stores those received at n + 1, n + 2, ... of the array,
  !! which must be long enough. Called by every rank, once for each array.
  subroutine append_real(this, values, stat, errmsg)
    class(mg_finder), intent(in) :: this
    real(c_double), intent(inout), target, contiguous :: values(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: address
    address = c_null_ptr
    if (size(values) > 0) address = c_loc(values)
    call append(this, address, 8_c_size_t, size(values), stat, errmsg)
  end subroutine append_real

  !> Sends the columns, of an array of shape (components, n), of points whose centre is elsewhere; appends those received.
  subroutine append_reals(this, values, stat, errmsg)
    class(mg_finder), intent(in) :: this
    real(c_double), intent(inout), target, contiguous :: values(:, :)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: address
    address = c_null_ptr
    if (size(values) > 0) address = c_loc(values)
    call append(this, address, 8 * size(values, 1, c_size_t), size(values, 2), stat, errmsg)
  end subroutine append_reals

  !> Sends 32-bit integers of points whose centre is on another rank, and stores those received at n + 1, n + 2, ... of the array.
  subroutine append_integer(this, values, stat, errmsg)
    class(mg_finder), intent(in) :: this
    integer(c_int32_t), intent(inout), target, contiguous :: values(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: address
    address = c_null_ptr
    if (size(values) > 0) address = c_loc(values)
    call append(this, address, 4_c_size_t, size(values), stat, errmsg)
  end subroutine append_integer

  !> Sends 64-bit integers of points whose centre is on another rank, and stores those received at n + 1, n + 2, ... of the array.
  subroutine append_long(this, values, stat, errmsg)
    class(mg_finder), intent(in) :: this
    integer(c_int64_t), intent(inout), target, contiguous :: values(:)
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    type(c_ptr) :: address
    address = c_null_ptr
    if (size(values) > 0) address = c_loc(values)
    call append(this, address, 8_c_size_t, size(values), stat, errmsg)
  end subroutine append_long

  !> Migrates entries of any type in the caller's array of `entries` entries of `bytes` bytes: received ones go behind the n own.
  subroutine append(this, address, bytes, entries, stat, errmsg)
    class(mg_finder), intent(in) :: this
    type(c_ptr), intent(in) :: address
    integer(c_size_t), intent(in) :: bytes
    integer, intent(in) :: entries
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    character(kind=c_char), pointer :: memory(:)
    type(c_ptr) :: behind
    integer(c_size_t) :: first, capacity
    if (entries < this%n + this%receive_count()) then
       call mg_refuse(mg_usage, mg_length_error('values', entries, mg_integer_text(this%n + this%receive_count())// &
            ' or more, for '//mg_integer_text(this%n)//' points and '//mg_integer_text(this%receive_count())//' receives'), &
            stat, errmsg)
       return
    end if
    first = int(this%n, c_size_t) * bytes
    capacity = int(entries, c_size_t) * bytes - first
    behind = c_null_ptr
    if (capacity > 0) then
       call c_f_pointer(address, memory, [first + capacity])
       behind = c_loc(memory(first + 1))
    end if
    call mg_return_status(mg_finder_migrate(this%handle, address, bytes, behind, capacity), stat, errmsg)
  end subroutine append

  !> Merges the stars of the last find in the caller's columns by the rules of a schema: sources are sent and removed, and gaps
  !! are closed. left: number of points left on this rank. Called by every rank.
  subroutine finder_merge(this, schema, columns, left, stat, errmsg)
    class(mg_finder), intent(inout) :: this
    type(mg_schema), intent(in) :: schema
    type(mg_columns), intent(in), target :: columns
    integer, intent(out) :: left
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_size_t) :: n
    integer(c_int) :: status
    left = this%n
    if (columns%error(this%n) /= '') then
       call mg_refuse(mg_usage, columns%error(this%n), stat, errmsg)
       return
    end if
    n = int(this%n, c_size_t)
    status = mg_finder_merge(this%handle, schema%handle, columns%record(this%n), n)
    left = int(n)
    if (status == mg_ok) this%n = 0
    call mg_return_status(status, stat, errmsg)
  end subroutine finder_merge

  !> Frees the star finder, if it was created. Every rank must free it.
  subroutine finder_free(this, stat, errmsg)
    class(mg_finder), intent(inout) :: this
    integer, intent(out), optional :: stat
    character(len=*), intent(inout), optional :: errmsg
    integer(c_int) :: status
    status = mg_finder_free(this%handle)
    this%handle = c_null_ptr
    this%n = 0
    call mg_return_status(status, stat, errmsg)
  end subroutine finder_free

  !> Finaliser of mg_finder: frees the star finder without reporting errors.
  subroutine finder_final(this)
    type(mg_finder), intent(inout) :: this
    integer(c_int) :: unused
    if (c_associated(this%handle)) unused = mg_finder_free(this%handle)
    this%handle = c_null_ptr
    this%n = 0
  end subroutine finder_final
end module merganser_stars

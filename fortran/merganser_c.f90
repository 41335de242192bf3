!> Interfaces (bind(c)) of the functions and records of merganser.h that the Fortran modules call. Layouts must equal those in
!! C. Programs use the module merganser.
module merganser_c
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_funptr, c_int, c_int16_t, c_int32_t, c_int64_t, c_ptr, &
       c_null_funptr, c_null_ptr, c_size_t
  implicit none
  public

  !> Record mg_box of the C interface: a box with walls or periodic axes.
  type, bind(c) :: c_box
     integer(c_size_t) :: struct_size = 0
     real(c_double) :: lower(3) = 0, extent(3) = 1
     integer(c_int32_t) :: periodic(3) = 0, unused = 0
  end type c_box

  !> Record mg_open_options of the C interface: options for opening a transport.
  type, bind(c) :: c_open_options
     integer(c_size_t) :: struct_size = 0
     type(c_ptr) :: backend = c_null_ptr, decorators = c_null_ptr
  end type c_open_options

  !> Record mg_points of the C interface: views of the caller's coordinates, for the star finder.
  type, bind(c) :: c_points
     integer(c_size_t) :: struct_size = 0, count = 0
     type(c_ptr) :: x = c_null_ptr, y = c_null_ptr, z = c_null_ptr
     integer(c_size_t) :: stride = 0
  end type c_points

  !> Record mg_receive of the C interface: link from a point of another rank to a centre of this one.
  type, bind(c) :: c_receive
     integer(c_int32_t) :: centre, rank, source, unused
     integer(c_int64_t) :: source_id
     real(c_double) :: distance2
  end type c_receive

  !> Record mg_star_lists of the C interface: stars in the form of EPIC's merging.
  type, bind(c) :: c_star_lists
     integer(c_size_t) :: struct_size = 0, merging = 0
     type(c_ptr) :: sources = c_null_ptr, centres = c_null_ptr
     integer(c_size_t) :: invalid = 0
     type(c_ptr) :: holes = c_null_ptr
  end type c_star_lists

  !> Record mg_finder_options of the C interface: pruning of the star finder.
  type, bind(c) :: c_finder_options
     integer(c_size_t) :: struct_size = 0
     integer(c_int32_t) :: prune = 0, subcommunicator = 0
  end type c_finder_options

  !> Record mg_columns of the C interface: addresses and strides of the columns that hold parcels.
  type, bind(c) :: c_columns
     integer(c_size_t) :: struct_size = 0, count = 0
     type(c_ptr) :: x = c_null_ptr, y = c_null_ptr, z = c_null_ptr
     integer(c_size_t) :: position_stride = 0
     type(c_ptr) :: volume = c_null_ptr
     integer(c_size_t) :: attributes = 0
     type(c_ptr) :: columns = c_null_ptr, strides = c_null_ptr, ids = c_null_ptr
  end type c_columns

  !> Record mg_clusterer_options of the C interface: options of merge steps.
  type, bind(c) :: c_clusterer_options
     integer(c_size_t) :: struct_size = 0
     real(c_double) :: min_volume_ratio = 0
     integer(c_int32_t) :: search = 0, prune = 0
     type(c_ptr) :: policy = c_null_ptr
     integer(c_int64_t) :: policy_step = 0
     type(c_funptr) :: allowed = c_null_funptr
     type(c_ptr) :: allowed_user = c_null_ptr
  end type c_clusterer_options

  !> Record mg_step_numbers of the C interface: counts and time of a merge step on this rank.
  type, bind(c) :: c_step_numbers
     integer(c_size_t) :: struct_size = 0
     integer(c_int64_t) :: before = 0, small = 0, merged = 0, after = 0, unmatched = 0, cross_links = 0
     real(c_double) :: seconds = 0
     integer(c_int64_t) :: rounds = 0, unsettled = 0, answers = 0, refused = 0, winding = 0, undone = 0
     real(c_double) :: weight_before = 0, weight_after = 0, energy_before = 0, energy_after = 0
     real(c_double) :: momentum_before(3) = 0, momentum_after(3) = 0
     integer(c_int64_t) :: split = 0
  end type c_step_numbers

  !> Record mg_announcement of the C interface: an announcement that was delivered on this rank.
  type, bind(c) :: c_announcement
     integer(c_int32_t) :: origin
     integer(c_int16_t) :: topic, delivery
     integer(c_int64_t) :: counter, announced
     type(c_ptr) :: bytes
     integer(c_size_t) :: byte_count
  end type c_announcement

  interface
     function mg_abi() bind(c) result(number)
       import :: c_int
       integer(c_int) :: number
     end function mg_abi
     function mg_version() bind(c) result(text)
       import :: c_ptr
       type(c_ptr) :: text
     end function mg_version
     function mg_error() bind(c) result(text)
       import :: c_ptr
       type(c_ptr) :: text
     end function mg_error
     function mg_error_from(first) bind(c) result(text)
       import :: c_int, c_ptr
       integer(c_int), value :: first
       type(c_ptr) :: text
     end function mg_error_from
     subroutine mg_end_job(exit_code) bind(c)
       import :: c_int
       integer(c_int), value :: exit_code
     end subroutine mg_end_job

     ! ---- transports and decompositions ----
     function mg_open_fortran(communicator, options, transport) bind(c) result(status)
       import :: c_int, c_ptr, c_open_options
       integer(c_int), value :: communicator
       type(c_open_options), intent(in) :: options
       type(c_ptr), intent(inout) :: transport
       integer(c_int) :: status
     end function mg_open_fortran
     function mg_open_alone(transport) bind(c) result(status)
       import :: c_int, c_ptr
       type(c_ptr), intent(inout) :: transport
       integer(c_int) :: status
     end function mg_open_alone
     function mg_transport_close(transport) bind(c) result(status)
       import :: c_int, c_ptr
       type(c_ptr), value :: transport
       integer(c_int) :: status
     end function mg_transport_close
     function mg_transport_rank(transport, rank) bind(c) result(status)
       import :: c_int, c_ptr
       type(c_ptr), value :: transport
       integer(c_int), intent(inout) :: rank
       integer(c_int) :: status
     end function mg_transport_rank
     function mg_transport_size(transport, ranks) bind(c) result(status)
       import :: c_int, c_ptr
       type(c_ptr), value :: transport
       integer(c_int), intent(inout) :: ranks
       integer(c_int) :: status
     end function mg_transport_size
     function mg_transport_name(transport, name) bind(c) result(status)
       import :: c_int, c_ptr
       type(c_ptr), value :: transport
       type(c_ptr), intent(inout) :: name
       integer(c_int) :: status
     end function mg_transport_name
     function mg_transport_choice(transport, choice) bind(c) result(status)
       import :: c_int, c_ptr
       type(c_ptr), value :: transport
       type(c_ptr), intent(inout) :: choice
       integer(c_int) :: status
     end function mg_transport_choice
     function mg_decomposition_new(box, cells, ranks, shape, decomposition) bind(c) result(status)
       import :: c_int, c_int64_t, c_ptr, c_box
       type(c_box), intent(in) :: box
       integer(c_int64_t), intent(in) :: cells(3)
       integer(c_int), value :: ranks
       type(c_ptr), value :: shape
       type(c_ptr), intent(inout) :: decomposition
       integer(c_int) :: status
     end function mg_decomposition_new
     function mg_decomposition_from_cuts(box, cells, cuts, counts, decomposition) bind(c) result(status)
       import :: c_int, c_int64_t, c_ptr, c_box, c_size_t
       type(c_box), intent(in) :: box
       integer(c_int64_t), intent(in) :: cells(3)
       type(c_ptr), intent(in) :: cuts(3)
       integer(c_size_t), intent(in) :: counts(3)
       type(c_ptr), intent(inout) :: decomposition
       integer(c_int) :: status
     end function mg_decomposition_from_cuts
     function mg_decomposition_from_boxes(box, cells, lower, upper, ranks, decomposition) bind(c) result(status)
       import :: c_int, c_int64_t, c_ptr, c_box, c_double
       type(c_box), intent(in) :: box
       integer(c_int64_t), intent(in) :: cells(3)
       real(c_double), intent(in) :: lower(*), upper(*)
       integer(c_int), value :: ranks
       type(c_ptr), intent(inout) :: decomposition
       integer(c_int) :: status
     end function mg_decomposition_from_boxes
     function mg_decomposition_of_ranks(transport, box, cells, lower, upper, decomposition) bind(c) result(status)
       import :: c_int, c_int64_t, c_ptr, c_box, c_double
       type(c_ptr), value :: transport
       type(c_box), intent(in) :: box
       integer(c_int64_t), intent(in) :: cells(3)
       real(c_double), intent(in) :: lower(3), upper(3)
       type(c_ptr), intent(inout) :: decomposition
       integer(c_int) :: status
     end function mg_decomposition_of_ranks
     function mg_decomposition_cartesian(communicator, box, cells, axes, decomposition) bind(c) result(status)
       import :: c_int, c_int32_t, c_int64_t, c_ptr, c_box
       integer(c_int), value :: communicator
       type(c_box), intent(in) :: box
       integer(c_int64_t), intent(in) :: cells(3)
       integer(c_int32_t), intent(in) :: axes(3)
       type(c_ptr), intent(inout) :: decomposition
       integer(c_int) :: status
     end function mg_decomposition_cartesian
     function mg_decomposition_block(decomposition, rank, lower, upper) bind(c) result(status)
       import :: c_int, c_ptr, c_double
       type(c_ptr), value :: decomposition
       integer(c_int), value :: rank
       real(c_double), intent(inout) :: lower(3), upper(3)
       integer(c_int) :: status
     end function mg_decomposition_block
     function mg_decomposition_owners(decomposition, xyz, n, owners) bind(c) result(status)
       import :: c_int, c_ptr, c_double, c_size_t, c_int32_t
       type(c_ptr), value :: decomposition
       real(c_double), intent(in) :: xyz(*)
       integer(c_size_t), value :: n
       integer(c_int32_t), intent(inout) :: owners(*)
       integer(c_int) :: status
     end function mg_decomposition_owners
     function mg_decomposition_free(decomposition) bind(c) result(status)
       import :: c_int, c_ptr
       type(c_ptr), value :: decomposition
       integer(c_int) :: status
     end function mg_decomposition_free

     ! ---- stars ----
     function mg_finder_new(transport, decomposition, options, finder) bind(c) result(status)
       import :: c_int, c_ptr, c_finder_options
       type(c_ptr), value :: transport, decomposition
       type(c_finder_options), intent(in) :: options
       type(c_ptr), intent(inout) :: finder
       integer(c_int) :: status
     end function mg_finder_new
     function mg_finder_find(finder, points, small, ids) bind(c) result(status)
       import :: c_int, c_ptr, c_points
       type(c_ptr), value :: finder
       type(c_points), intent(in) :: points
       type(c_ptr), value :: small, ids
       integer(c_int) :: status
     end function mg_finder_find
     function mg_finder_links(finder, links, n) bind(c) result(status)
       import :: c_int, c_ptr, c_size_t
       type(c_ptr), value :: finder
       type(c_ptr), intent(inout) :: links
       integer(c_size_t), intent(inout) :: n
       integer(c_int) :: status
     end function mg_finder_links
     function mg_finder_sends(finder, positions, n) bind(c) result(status)
       import :: c_int, c_ptr, c_size_t
       type(c_ptr), value :: finder
       type(c_ptr), intent(inout) :: positions
       integer(c_size_t), intent(inout) :: n
       integer(c_int) :: status
     end function mg_finder_sends
     function mg_finder_receives(finder, receives, n) bind(c) result(status)
       import :: c_int, c_ptr, c_size_t
       type(c_ptr), value :: finder
       type(c_ptr), intent(inout) :: receives
       integer(c_size_t), intent(inout) :: n
       integer(c_int) :: status
     end function mg_finder_receives
     function mg_finder_places(finder, rank, position, id, distance2) bind(c) result(status)
       import :: c_int, c_ptr
       type(c_ptr), value :: finder, rank, position, id, distance2
       integer(c_int) :: status
     end function mg_finder_places
     function mg_finder_lists(finder, base, lists) bind(c) result(status)
       import :: c_int, c_ptr, c_star_lists
       type(c_ptr), value :: finder
       integer(c_int), value :: base
       type(c_star_lists), intent(inout) :: lists
       integer(c_int) :: status
     end function mg_finder_lists
     function mg_finder_migrate(finder, rows, row_bytes, received, capacity) bind(c) result(status)
       import :: c_int, c_ptr, c_size_t
       type(c_ptr), value :: finder, rows
       integer(c_size_t), value :: row_bytes
       type(c_ptr), value :: received
       integer(c_size_t), value :: capacity
       integer(c_int) :: status
     end function mg_finder_migrate
     function mg_finder_merge(finder, schema, columns, left) bind(c) result(status)
       import :: c_int, c_ptr, c_size_t, c_columns
       type(c_ptr), value :: finder, schema
       type(c_columns), intent(in) :: columns
       integer(c_size_t), intent(inout) :: left
       integer(c_int) :: status
     end function mg_finder_merge
     function mg_finder_free(finder) bind(c) result(status)
       import :: c_int, c_ptr
       type(c_ptr), value :: finder
       integer(c_int) :: status
     end function mg_finder_free

     ! ---- schemas and the clusterer ----
     function mg_schema_new(schema) bind(c) result(status)
       import :: c_int, c_ptr
       type(c_ptr), intent(inout) :: schema
       integer(c_int) :: status
     end function mg_schema_new
     function mg_schema_epic(schema) bind(c) result(status)
       import :: c_int, c_ptr
       type(c_ptr), intent(inout) :: schema
       integer(c_int) :: status
     end function mg_schema_epic
     function mg_schema_add(schema, name, components, rule) bind(c) result(status)
       import :: c_int, c_ptr, c_char
       type(c_ptr), value :: schema
       character(kind=c_char), intent(in) :: name(*)
       integer(c_int), value :: components, rule
       integer(c_int) :: status
     end function mg_schema_add
     function mg_schema_free(schema) bind(c) result(status)
       import :: c_int, c_ptr
       type(c_ptr), value :: schema
       integer(c_int) :: status
     end function mg_schema_free
     function mg_clusterer_new(transport, decomposition, schema, options, clusterer) bind(c) result(status)
       import :: c_int, c_ptr, c_clusterer_options
       type(c_ptr), value :: transport, decomposition, schema
       type(c_clusterer_options), intent(in) :: options
       type(c_ptr), intent(inout) :: clusterer
       integer(c_int) :: status
     end function mg_clusterer_new
     function mg_clusterer_put(clusterer, columns) bind(c) result(status)
       import :: c_int, c_ptr, c_columns
       type(c_ptr), value :: clusterer
       type(c_columns), intent(in) :: columns
       integer(c_int) :: status
     end function mg_clusterer_put
     function mg_clusterer_distribute(clusterer) bind(c) result(status)
       import :: c_int, c_ptr
       type(c_ptr), value :: clusterer
       integer(c_int) :: status
     end function mg_clusterer_distribute
     function mg_clusterer_step(clusterer, numbers) bind(c) result(status)
       import :: c_int, c_ptr, c_step_numbers
       type(c_ptr), value :: clusterer
       type(c_step_numbers), intent(inout) :: numbers
       integer(c_int) :: status
     end function mg_clusterer_step
     function mg_clusterer_policy_step(clusterer, step) bind(c) result(status)
       import :: c_int, c_int64_t, c_ptr
       type(c_ptr), value :: clusterer
       integer(c_int64_t), intent(inout) :: step
       integer(c_int) :: status
     end function mg_clusterer_policy_step
     function mg_clusterer_redistribute(clusterer, sent) bind(c) result(status)
       import :: c_int, c_int64_t, c_ptr
       type(c_ptr), value :: clusterer
       integer(c_int64_t), intent(inout) :: sent
       integer(c_int) :: status
     end function mg_clusterer_redistribute
     function mg_clusterer_count(clusterer, n) bind(c) result(status)
       import :: c_int, c_ptr, c_size_t
       type(c_ptr), value :: clusterer
       integer(c_size_t), intent(inout) :: n
       integer(c_int) :: status
     end function mg_clusterer_count
     function mg_clusterer_get(clusterer, columns, n) bind(c) result(status)
       import :: c_int, c_ptr, c_size_t, c_columns
       type(c_ptr), value :: clusterer
       type(c_columns), intent(in) :: columns
       integer(c_size_t), intent(inout) :: n
       integer(c_int) :: status
     end function mg_clusterer_get
     function mg_clusterer_digest(clusterer, digest) bind(c) result(status)
       import :: c_int, c_ptr, c_char
       type(c_ptr), value :: clusterer
       character(kind=c_char), intent(inout) :: digest(33)
       integer(c_int) :: status
     end function mg_clusterer_digest
     function mg_clusterer_free(clusterer) bind(c) result(status)
       import :: c_int, c_ptr
       type(c_ptr), value :: clusterer
       integer(c_int) :: status
     end function mg_clusterer_free

     ! ---- announcements ----
     function mg_announcer_new(transport, network, dimension, options, announcer) bind(c) result(status)
       import :: c_int, c_ptr, c_char
       type(c_ptr), value :: transport
       character(kind=c_char), intent(in) :: network(*)
       integer(c_int), value :: dimension
       type(c_ptr), value :: options
       type(c_ptr), intent(inout) :: announcer
       integer(c_int) :: status
     end function mg_announcer_new
     function mg_announcer_announce(announcer, topic, bytes, n, delivery) bind(c) result(status)
       import :: c_int, c_ptr, c_size_t
       type(c_ptr), value :: announcer
       integer(c_int), value :: topic
       type(c_ptr), value :: bytes
       integer(c_size_t), value :: n
       integer(c_int), value :: delivery
       integer(c_int) :: status
     end function mg_announcer_announce
     function mg_announcer_step(announcer, n) bind(c) result(status)
       import :: c_int, c_ptr, c_size_t
       type(c_ptr), value :: announcer
       integer(c_size_t), intent(inout) :: n
       integer(c_int) :: status
     end function mg_announcer_step
     function mg_announcer_received(announcer, announcements, n) bind(c) result(status)
       import :: c_int, c_ptr, c_size_t
       type(c_ptr), value :: announcer
       type(c_ptr), intent(inout) :: announcements
       integer(c_size_t), intent(inout) :: n
       integer(c_int) :: status
     end function mg_announcer_received
     function mg_announcer_time(announcer, steps) bind(c) result(status)
       import :: c_int, c_ptr
       type(c_ptr), value :: announcer
       integer(c_int), intent(inout) :: steps
       integer(c_int) :: status
     end function mg_announcer_time
     function mg_announcer_free(announcer) bind(c) result(status)
       import :: c_int, c_ptr
       type(c_ptr), value :: announcer
       integer(c_int) :: status
     end function mg_announcer_free
  end interface
end module merganser_c

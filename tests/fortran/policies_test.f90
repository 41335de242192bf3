!> Steps under merge policies, and friends of friends, through Fortran: the bits of C++.
program policies_test
  use, intrinsic :: iso_c_binding, only: c_associated, c_double, c_int, c_int64_t, c_ptr
  use mpi_f08
  use merganser
  use checks
  use parcels
  implicit none
  type(mg_transport) :: transport
  integer :: rank

  call MPI_Init()
  call MPI_Comm_rank(MPI_COMM_WORLD, rank)
  call transport%open(MPI_COMM_WORLD, model='p2p')
  call steps_under('crowded:2->1, within:1cell, place:member, seed:7')
  call steps_under('pairs, within:0.5spacing, members:3')
  call steps_under('crowded:4->2, greedy:2, split:3, along:axis, within:1cell')
  call with_a_predicate()
  call bad_policies()
  call groups_of_friends()
  call bad_friends()
  call transport%close()
  call finish()

contains

  !> A clusterer with the parcels of this rank.
  subroutine prepare(grid, schema, clusterer, c)
    type(mg_decomposition), intent(inout) :: grid
    type(mg_schema), intent(inout) :: schema
    type(mg_clusterer), intent(inout) :: clusterer
    type(container), intent(inout), target :: c
    type(mg_columns) :: columns
    call reserve(c)
    call fill(c, grid, transport%rank())
    call name_columns(c, columns)
    call clusterer%put(columns, c%n)
    call check(clusterer%parcels() == c%n, 'parcels that were put')
    call schema%free()
  end subroutine prepare

  subroutine steps_under(policy)
    character(len=*), intent(in) :: policy
    type(mg_decomposition) :: grid
    type(mg_schema) :: schema
    type(mg_clusterer) :: clusterer
    type(mg_step_numbers) :: numbers
    type(container), target :: c
    character(len=32) :: digest
    real(c_double) :: weight(2), all(2)
    integer(c_int64_t) :: split, split_by_all
    integer :: i
    call grid%make(the_box, cells, transport%size())
    call schema%epic()
    call clusterer%make(transport, grid, schema, min_volume_ratio=10.0_c_double, policy=policy)
    call prepare(grid, schema, clusterer, c)
    do i = 1, 2
       call clusterer%step(numbers=numbers)
       if (i == 1) call check(numbers%rounds > 0 .and. numbers%merged > 0, policy//': rounds')
       if (i == 1) split = numbers%split
       call clusterer%redistribute()
    end do
    call clusterer%digest(digest)
    call check(digest == expected_digest(2, policy), policy//': the digest of C++')
    call check(digest /= expected_digest(2), policy//': does something')
    call check(clusterer%policy_step() == 2, policy//': steps made')
    call check(numbers%unsettled == 0, policy//': settled')
    call MPI_Allreduce(split, split_by_all, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
    call check((split_by_all > 0) .eqv. (index(policy, 'split') > 0), policy//': new parcels')
    weight = [numbers%weight_before, numbers%weight_after]
    call MPI_Allreduce(weight, all, 2, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    call check(all(1) > 0.1_c_double .and. abs(all(2) - all(1)) < 1.0e-12_c_double, policy//': weight')
    call check(all(1) < 1.0_c_double, policy//': weight of this example')
  end subroutine steps_under

  !> No merged parcel may be where x > 0; none is where the predicate says so everywhere.
  subroutine with_a_predicate()
    type(mg_decomposition) :: grid
    type(mg_schema) :: schema
    type(mg_clusterer) :: clusterer
    type(mg_step_numbers) :: numbers
    type(container), target :: c
    integer(c_int64_t) :: merged, refused
    call grid%make(the_box, cells, transport%size())
    call schema%epic()
    call clusterer%make(transport, grid, schema, min_volume_ratio=10.0_c_double, policy='within:1cell', &
         policy_step=4_c_int64_t, allowed=nowhere)
    call prepare(grid, schema, clusterer, c)
    call clusterer%step(merged, numbers=numbers)
    call MPI_Allreduce(numbers%refused, refused, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
    call check(merged == 0 .and. refused > 0, 'nothing merges where nothing may be')
    call check(clusterer%policy_step() == 5, 'policy_step')
  end subroutine with_a_predicate

  function nowhere(position, user) bind(c) result(allowed)
    real(c_double), intent(in) :: position(3)
    type(c_ptr), value :: user
    integer(c_int) :: allowed
    allowed = merge(1_c_int, 0_c_int, c_associated(user) .or. position(1) > 1.0e9_c_double)  ! no user is passed
  end function nowhere

  subroutine bad_policies()
    type(mg_decomposition) :: grid
    type(mg_schema) :: schema
    type(mg_clusterer) :: clusterer
    character(len=200) :: text
    integer :: stat
    call grid%make(the_box, cells, transport%size())
    call schema%epic()
    call clusterer%make(transport, grid, schema, policy='crowd:2->1', stat=stat, errmsg=text)
    call check(stat == mg_usage, 'an unknown part')
    call check_text(text, "policy: 'crowd:2->1'; allowed: the parts small, mask, crowded")
    call clusterer%make(transport, grid, schema, policy='same:buoyancy', stat=stat, errmsg=text)
    call check_text(text, 'policy: same: attribute buoyancy has a merge rule that may change it')
    call clusterer%make(transport, grid, schema, allowed=nowhere, stat=stat, errmsg=text)
    call check_text(text, 'policy: a predicate without within')
    call check(clusterer%policy_step() == 0, 'a clusterer that was not made')
  end subroutine bad_policies

  subroutine groups_of_friends()
    type(mg_decomposition) :: grid, nobody
    type(mg_friends) :: friends
    type(mg_friend_group), allocatable :: groups(:)
    type(container) :: c, every
    integer(c_int64_t) :: labels(most), expected(most), number, n
    real(c_double) :: mass, found, sum_of_all
    integer :: i
    call reserve(every)
    call fill(every, nobody, -1)
    call reference_friends(0.8_c_double, int(every%n, c_int), every%position, every%volume, every%id, expected, mass, number)
    call grid%make(the_box, cells, transport%size())
    call reserve(c)
    call fill(c, grid, transport%rank())
    call friends%make(transport, grid, '0.8spacing', least_members=3_c_int64_t)
    call friends%label(c%position(:, 1:c%n), labels(1:c%n), ids=c%id(1:c%n), mass=c%volume(1:c%n), &
         velocity=c%vorticity(:, 1:c%n))
    do i = 1, c%n
       call check(labels(i) == expected(c%id(i)), 'label')  ! ids are numbers of parcels
    end do
    call friends%groups(groups)
    call check(all(groups%members >= 3), 'members')
    n = size(groups)
    call MPI_Allreduce(MPI_IN_PLACE, n, 1, MPI_INTEGER8, MPI_SUM, MPI_COMM_WORLD)
    call check(n == number .and. n > 10, 'groups')
    found = sum(groups%mass)
    call MPI_Allreduce(found, sum_of_all, 1, MPI_DOUBLE_PRECISION, MPI_SUM, MPI_COMM_WORLD)
    call check(abs(sum_of_all - mass) < 1.0e-12_c_double, 'mass')
    do i = 1, size(groups)
       call check(all(groups(i)%centre >= the_box%lower .and. groups(i)%centre <= the_box%lower + the_box%extent), 'centre')
       call check(all(abs(groups(i)%velocity) <= 0.5_c_double) .and. any(abs(groups(i)%velocity) > 0.0_c_double), 'velocity')
    end do
    call check(friends%length() > 0.0_c_double, 'length')
    call friends%label(c%position(:, 1:c%n), labels(1:c%n), ids=c%id(1:c%n), same=reshape(real(c%id(1:c%n), c_double), [c%n, 1]))
    call check(all(labels(1:c%n) == c%id(1:c%n)), 'friends are equal in same')
    call friends%free()
  end subroutine groups_of_friends

  subroutine bad_friends()
    type(mg_decomposition) :: grid
    type(mg_friends) :: friends
    type(mg_friend_group), allocatable :: groups(:)
    character(len=200) :: text
    integer(c_int64_t) :: labels(1)
    real(c_double) :: xyz(3, 1)
    integer :: stat
    call grid%make(the_box, cells, transport%size())
    call friends%make(transport, grid, 'far', stat=stat, errmsg=text)
    call check(stat == mg_usage, 'no length')
    call check_text(text, "policy: 'friends:far'; allowed: a positive LENGTH")
    call friends%make(transport, grid, '0.1')
    call friends%groups(groups, stat=stat, errmsg=text)
    call check(stat == mg_usage .and. size(groups) == 0, 'groups before a search')
    call check(friends%length() <= 0.0_c_double, 'length before a search')
    xyz = 0.5_c_double
    call friends%label(xyz, labels(1:0), stat=stat, errmsg=text)
    call check_text(text, 'labels: 0 entries; allowed: 1, one for each point')
    call friends%label(xyz, labels, mass=[1.0_c_double, 1.0_c_double], stat=stat, errmsg=text)
    call check_text(text, 'mass: 2 entries; allowed: 1, one for each point')
    call friends%label(xyz, labels, velocity=xyz(1:2, :), stat=stat, errmsg=text)
    call check_text(text, 'velocity: 2 rows; allowed: 3')
    call friends%label(xyz(1:1, :), labels, stat=stat, errmsg=text)
    call check_text(text, 'xyz: 1 rows; allowed: 2 or 3')
  end subroutine bad_friends
end program policies_test

!> Merging by the lists of EPIC's contract, from the formulas: what a code of EPIC's shape does after it has the lists.
module list_merging
  use, intrinsic :: iso_c_binding, only: c_double, c_int64_t
  implicit none
  private
  public :: soa, reserve, merge_by_lists, delete_slots

  !> EPIC's structure of arrays.
  type :: soa
     integer :: n = 0
     real(c_double), allocatable :: position(:, :), volume(:), vorticity(:, :), buoyancy(:), b(:, :)
     integer(c_int64_t), allocatable :: id(:)
  end type soa

  real(c_double), parameter :: pi = 3.1415926535897932385_c_double

contains

  subroutine reserve(p, room)
    type(soa), intent(out) :: p
    integer, intent(in) :: room
    allocate (p%position(3, room), p%volume(room), p%vorticity(3, room), p%buoyancy(room), p%b(5, room), p%id(room))
  end subroutine reserve

  !> Every centre becomes the ellipsoid with the volume, the means and the second moments of its star:
  !! B = sum of V_i / V (B_i + 5 r_i r_i'), scaled to the determinant that the volume asks for.
  subroutine merge_by_lists(p, lower, extent, isma, iclo)
    type(soa), intent(inout) :: p
    real(c_double), intent(in) :: lower(3), extent(3)
    integer, intent(in) :: isma(0:), iclo(:)
    integer :: star(p%n), centre(size(iclo)), stars, m, k, c
    real(c_double) :: volume(size(iclo)), mean(4, size(iclo)), shift(3, size(iclo)), moments(3, 3, size(iclo))
    star = 0
    stars = 0
    do m = 1, size(iclo)
       if (star(iclo(m)) > 0) cycle
       stars = stars + 1
       star(iclo(m)) = stars
       centre(stars) = iclo(m)
    end do
    do k = 1, stars
       c = centre(k)
       volume(k) = p%volume(c)
       shift(:, k) = 0
       mean(:, k) = p%volume(c) * [p%vorticity(:, c), p%buoyancy(c)]
    end do
    do m = 1, size(iclo)
       k = star(iclo(m))
       volume(k) = volume(k) + p%volume(isma(m))
       shift(:, k) = shift(:, k) + p%volume(isma(m)) * apart(isma(m), iclo(m))
       mean(:, k) = mean(:, k) + p%volume(isma(m)) * [p%vorticity(:, isma(m)), p%buoyancy(isma(m))]
    end do
    do k = 1, stars
       shift(:, k) = shift(:, k) / volume(k)
       moments(:, :, k) = share(centre(k), -shift(:, k), volume(k))
    end do
    do m = 1, size(iclo)
       k = star(iclo(m))
       moments(:, :, k) = moments(:, :, k) + share(isma(m), apart(isma(m), iclo(m)) - shift(:, k), volume(k))
    end do
    do k = 1, stars
       c = centre(k)
       p%position(:, c) = p%position(:, c) + shift(:, k)
       p%position(1:2, c) = lower(1:2) + modulo(p%position(1:2, c) - lower(1:2), extent(1:2))
       p%volume(c) = volume(k)
       p%vorticity(:, c) = mean(1:3, k) / volume(k)
       p%buoyancy(c) = mean(4, k) / volume(k)
       moments(:, :, k) = moments(:, :, k) * (radii2(volume(k)) / determinant(moments(:, :, k)))**(1.0_c_double / 3)
       p%b(:, c) = [moments(1, :, k), moments(2, 2:3, k)]
    end do

  contains

    !> From one parcel to another, the short way round periodic x and y.
    function apart(to, from) result(d)
      integer, intent(in) :: to, from
      real(c_double) :: d(3)
      d = p%position(:, to) - p%position(:, from)
      d(1:2) = d(1:2) - extent(1:2) * anint(d(1:2) / extent(1:2))
    end function apart

    !> What a parcel that stands at r from the middle gives to the second moments.
    function share(i, r, total) result(m)
      integer, intent(in) :: i
      real(c_double), intent(in) :: r(3), total
      real(c_double) :: m(3, 3), v
      integer :: a
      v = p%volume(i) / total
      m(1, :) = p%b(1:3, i)
      m(2, :) = [p%b(2, i), p%b(4:5, i)]
      m(3, :) = [p%b(3, i), p%b(5, i), last_entry(p%b(:, i), p%volume(i))]
      do a = 1, 3
         m(:, a) = v * (m(:, a) + 5 * r * r(a))
      end do
    end function share
  end subroutine merge_by_lists

  !> B33 of an ellipsoid of this volume.
  pure function last_entry(b, volume) result(b33)
    real(c_double), intent(in) :: b(5), volume
    real(c_double) :: b33
    b33 = (radii2(volume) - b(3) * (b(2) * b(5) - b(3) * b(4)) + b(1) * b(5)**2 - b(2) * b(3) * b(5)) / &
         (b(1) * b(4) - b(2)**2)
  end function last_entry

  !> The square of the product of the semi-axes.
  pure function radii2(volume) result(r)
    real(c_double), intent(in) :: volume
    real(c_double) :: r
    r = (0.75_c_double * volume / pi)**2
  end function radii2

  pure function determinant(m) result(d)
    real(c_double), intent(in) :: m(3, 3)
    real(c_double) :: d
    d = m(1, 1) * (m(2, 2) * m(3, 3) - m(2, 3) * m(3, 2)) - m(1, 2) * (m(2, 1) * m(3, 3) - m(2, 3) * m(3, 1)) &
         + m(1, 3) * (m(2, 1) * m(3, 2) - m(2, 2) * m(3, 1))
  end function determinant

  !> Moves the last slots that stay into those of inva(1:), which ascend.
  subroutine delete_slots(p, inva)
    type(soa), intent(inout) :: p
    integer, intent(in) :: inva(0:)
    integer :: k, last, held
    held = ubound(inva, 1)
    last = p%n
    do k = 1, ubound(inva, 1)
       do while (held >= k)
          if (inva(held) /= last) exit
          held = held - 1
          last = last - 1
       end do
       if (held < k) exit
       p%position(:, inva(k)) = p%position(:, last)
       p%volume(inva(k)) = p%volume(last)
       p%vorticity(:, inva(k)) = p%vorticity(:, last)
       p%buoyancy(inva(k)) = p%buoyancy(last)
       p%b(:, inva(k)) = p%b(:, last)
       p%id(inva(k)) = p%id(last)
       last = last - 1
    end do
    p%n = p%n - ubound(inva, 1)
  end subroutine delete_slots
end module list_merging

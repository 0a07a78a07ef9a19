! A Fortran program over netcdf-fortran: defines, writes, reads, edits and prints.
program record
  use netcdf
  implicit none
  integer :: ncid, t, x, v, w, c, i, modes(3), format, ndims, nvars, natts, unlim, n
  real :: row(5), back(5, 4), strided(3, 2)
  double precision :: one
  integer :: numbers(5)
  character(len=40) :: text, name
  character(len=8) :: word
  modes = (/ nf90_clobber, nf90_64bit_offset, nf90_64bit_data /)
  do i = 1, 3
    write(name, '(a,i1,a)') 'fortran', i, '.nc'
    call check(nf90_create(name, ior(nf90_clobber, modes(i)), ncid))
    call check(nf90_def_dim(ncid, 'time', nf90_unlimited, t))
    call check(nf90_def_dim(ncid, 'x', 5, x))
    call check(nf90_def_var(ncid, 'v', nf90_float, (/ x, t /), v))
    call check(nf90_def_var(ncid, 'w', nf90_int, (/ x /), w))
    call check(nf90_def_var(ncid, 'c', nf90_char, (/ x /), c))
    call check(nf90_put_att(ncid, v, 'units', 'metres'))
    call check(nf90_put_att(ncid, v, 'range', (/ 1.5, 2.5 /)))
    call check(nf90_put_att(ncid, nf90_global, 'count', 7))
    call check(nf90_enddef(ncid))
    do n = 1, 4
      row = (/ 1.0, 2.0, 3.0, 4.0, 5.0 /) * n
      call check(nf90_put_var(ncid, v, row, start=(/ 1, n /), count=(/ 5, 1 /)))
    end do
    call check(nf90_put_var(ncid, w, (/ 10, 20, 30, 40, 50 /)))
    call check(nf90_put_var(ncid, c, 'hello'))
    call check(nf90_redef(ncid))
    call check(nf90_put_att(ncid, w, 'late', 3.25d0))
    call check(nf90_rename_var(ncid, c, 'word'))
    call check(nf90_enddef(ncid))
    call check(nf90_close(ncid))
    call check(nf90_open(name, nf90_write, ncid))
    call check(nf90_inquire(ncid, ndims, nvars, natts, unlim, format))
    print *, ndims, nvars, natts, unlim, format
    call check(nf90_get_var(ncid, v, back))
    print '(5f6.1)', back
    call check(nf90_get_var(ncid, v, strided, start=(/ 1, 2 /), count=(/ 3, 2 /), stride=(/ 2, 2 /)))
    print '(3f6.1)', strided
    call check(nf90_get_var(ncid, w, numbers))
    print *, numbers
    call check(nf90_get_var(ncid, v, one, start=(/ 2, 3 /)))
    print *, one
    call check(nf90_get_att(ncid, v, 'units', text))
    print *, trim(text)
    call check(nf90_inq_varid(ncid, 'word', c))
    word = ' '
    call check(nf90_get_var(ncid, c, word(1:5)))
    print *, word
    print *, trim(nf90_strerror(nf90_get_var(ncid, v, one, start=(/ 9, 9 /))))
    print *, trim(nf90_strerror(nf90_inq_varid(ncid, 'nothing', n)))
    call check(nf90_close(ncid))
  end do
contains
  subroutine check(status)
    integer, intent(in) :: status
    if (status /= nf90_noerr) then
      print *, trim(nf90_strerror(status))
      stop 2
    end if
  end subroutine check
end program record

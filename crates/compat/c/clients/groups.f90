! A Fortran program over netcdf-fortran that writes netCDF-4 and its classic model: types, groups, storage, edits.
program groups
  use netcdf
  implicit none
  integer :: nc, g, h, x, y, t, u, v, w, s, i, n, point, colour, pair, list, blob, ids(8), total, class, base, len
  integer :: ndims, nvars, natts, unlim, format, chunks(2), level, ints(8), back(4)
  logical :: contiguous, shuffle, fletcher
  character(len=40) :: name
  character(len=48) :: bytes
  real :: row(6), rows(6, 5)
  double precision :: one

  call check(nf90_create('f4.nc', ior(nf90_netcdf4, nf90_clobber), nc))
  call check(nf90_def_dim(nc, 'x', 6, x))
  call check(nf90_def_dim(nc, 't', nf90_unlimited, t))
  call check(nf90_def_dim(nc, 'u', nf90_unlimited, u))
  call check(nf90_def_compound(nc, 16, 'point', point))
  call check(nf90_insert_compound(nc, point, 'n', 0, nf90_int))
  call check(nf90_insert_array_compound(nc, point, 'pair', 4, nf90_short, 1, 2))
  call check(nf90_insert_compound(nc, point, 'd', 8, nf90_double))
  call check(nf90_def_enum(nc, nf90_int, 'colour', colour))
  call check(nf90_insert_enum(nc, colour, 'red', 1))
  call check(nf90_insert_enum(nc, colour, 'green', 20))
  call check(nf90_insert_enum(nc, colour, 'blue', -300))
  call check(nf90_def_vlen(nc, 'list', nf90_int, list))
  call check(nf90_def_opaque(nc, 7, 'blob', blob))
  ! Storage in every way that the language asks for it.
  call check(nf90_def_var(nc, 'packed', nf90_float, (/ x, t /), v, chunksizes=(/ 3, 2 /), shuffle=.true., &
    deflate_level=4, fletcher32=.true.))
  call check(nf90_def_var_fill(nc, v, 0, -99.5))
  call check(nf90_def_var(nc, 'big', nf90_int, (/ x /), w, contiguous=.true., endianness=nf90_endian_big))
  call check(nf90_def_var_fill(nc, w, 1, 0))
  call check(nf90_def_var(nc, 'two', nf90_int64, (/ u, t /), s, cache_size=100000, cache_nelems=11, &
    cache_preemption=50))
  call check(nf90_put_att(nc, v, 'units', 'metres'))
  call check(nf90_put_att(nc, v, 'range', (/ 1.5, 2.5 /)))
  call check(nf90_put_att(nc, nf90_global, 'title', 'from Fortran'))
  call check(nf90_put_att(nc, nf90_global, 'shorts', (/ 1_2, -2_2, 3_2 /)))
  bytes = repeat(char(0), 48)
  bytes(1:16) = transfer((/ 7, 65538, 0, 1074266112 /), bytes(1:16))
  bytes(17:32) = transfer((/ -8, 262147, 0, -1073741824 /), bytes(1:16))
  call check(nf90_put_att_any(nc, nf90_global, 'points', point, 2, bytes))
  call check(nf90_def_var(nc, 'points', point, (/ t /), i))
  call check(nf90_def_var(nc, 'colours', colour, (/ x /), n))
  call check(nf90_def_var(nc, 'blobs', blob, (/ x /), pair))
  call check(nf90_enddef(nc))
  call check(nf90_put_var_any(nc, i, bytes, (/ 1 /), (/ 3 /)))
  call check(nf90_put_var_any(nc, n, transfer((/ 1, 20, -300, 1, 20, 20 /), bytes), (/ 1 /), (/ 6 /)))
  call check(nf90_put_var_any(nc, pair, bytes, (/ 2 /), (/ 3 /)))
  do n = 1, 5
    row = (/ 1.0, 2.0, 3.0, 4.0, 5.0, 6.0 /) * n
    if (n /= 4) call check(nf90_put_var(nc, v, row, start=(/ 1, n /), count=(/ 6, 1 /)))
  end do
  call check(nf90_put_var(nc, w, (/ 10, 20, 30, 40, 50, 60 /)))
  call check(nf90_put_var(nc, s, reshape((/ 1, 2, 3, 4, 5, 6 /), (/ 3, 2 /)), start=(/ 2, 1 /)))
  ! Groups, one below the other, with a dimension of the root and one of their own.
  call check(nf90_def_grp(nc, 'first', g))
  call check(nf90_def_grp(g, 'below', h))
  call check(nf90_def_dim(h, 'y', 2, y))
  call check(nf90_def_var(h, 'deep', nf90_short, (/ y, x /), n, deflate_level=9))
  call check(nf90_put_att(h, n, 'late', 3.25d0))
  call check(nf90_put_att(g, nf90_global, 'note', 'a group'))
  call check(nf90_put_var(h, n, reshape((/ (i, i = 1, 12) /), (/ 2, 6 /))))
  call check(nf90_def_var(g, 'y', nf90_double, (/ t /), n))
  call check(nf90_put_var(g, n, (/ 1.5d0, 2.5d0 /), start=(/ 6 /)))
  call check(nf90_redef(nc))
  call check(nf90_rename_var(nc, w, 'large'))
  call check(nf90_rename_dim(nc, u, 'unbound'))
  call check(nf90_rename_att(nc, v, 'range', 'valid_range'))
  call check(nf90_close(nc))

  ! A second opening: more records, definitions, changes.
  call check(nf90_open('f4.nc', nf90_write, nc))
  call check(nf90_inquire(nc, ndims, nvars, natts, unlim, format))
  print *, ndims, nvars, natts, unlim, format
  call check(nf90_inq_varid(nc, 'packed', v))
  call check(nf90_inquire_variable(nc, v, contiguous=contiguous, chunksizes=chunks, deflate_level=level, &
    shuffle=shuffle, fletcher32=fletcher))
  print *, contiguous, chunks, level, shuffle, fletcher
  call check(nf90_get_var(nc, v, rows))
  print '(6f7.1)', rows
  call check(nf90_inq_typeids(nc, total, ids))
  do n = 1, total
    call check(nf90_inq_user_type(nc, ids(n), name, len, base, i, class))
    print *, trim(name), len, base, i, class
  end do
  call check(nf90_put_var(nc, v, row + 0.25, start=(/ 1, 8 /), count=(/ 6, 1 /)))
  call check(nf90_put_att(nc, v, 'units', 'inches'))
  call check(nf90_del_att(nc, nf90_global, 'shorts'))
  call check(nf90_def_dim(nc, 'z', 4, y))
  call check(nf90_def_var(nc, 'z', nf90_int, (/ y /), w))
  call check(nf90_put_var(nc, w, (/ 4, 3, 2, 1 /)))
  call check(nf90_inq_ncid(nc, 'first', g))
  call check(nf90_put_att(g, nf90_global, 'note', 'a group with a longer note'))
  call check(nf90_def_grp(g, 'second', h))
  call check(nf90_def_var(h, 'scalar', nf90_double, n))
  call check(nf90_put_var(h, n, 6.5d0))
  call check(nf90_sync(nc))
  call check(nf90_get_var(nc, w, back))
  print *, back
  call check(nf90_inq_grps(nc, total, ints))
  print *, total
  print *, trim(nf90_strerror(nf90_def_grp(nc, 'first', h)))
  print *, trim(nf90_strerror(nf90_def_var(nc, 'z', nf90_int, (/ y /), w)))
  print *, trim(nf90_strerror(nf90_get_var(nc, v, one, start=(/ 1, 99 /))))
  call check(nf90_close(nc))

  ! The classic model keeps the rules of classic files.
  call check(nf90_create('f7.nc', ior(ior(nf90_netcdf4, nf90_classic_model), nf90_clobber), nc))
  call check(nf90_def_dim(nc, 'x', 6, x))
  call check(nf90_def_dim(nc, 't', nf90_unlimited, t))
  print *, trim(nf90_strerror(nf90_def_dim(nc, 'u', nf90_unlimited, u)))
  print *, trim(nf90_strerror(nf90_def_grp(nc, 'g', g)))
  print *, trim(nf90_strerror(nf90_def_var(nc, 'i64', nf90_int64, (/ x /), v)))
  print *, trim(nf90_strerror(nf90_def_compound(nc, 16, 'point', point)))
  call check(nf90_def_var(nc, 'v', nf90_float, (/ x, t /), v, deflate_level=1, shuffle=.true.))
  call check(nf90_def_var(nc, 'c', nf90_char, (/ x /), w))
  call check(nf90_put_att(nc, v, '_FillValue', -1.0))
  print *, trim(nf90_strerror(nf90_put_var(nc, w, 'hello')))
  call check(nf90_enddef(nc))
  call check(nf90_put_var(nc, w, 'hello'))
  call check(nf90_put_var(nc, v, row, start=(/ 1, 3 /), count=(/ 6, 1 /)))
  print *, trim(nf90_strerror(nf90_def_dim(nc, 'z', 4, y)))
  call check(nf90_redef(nc))
  call check(nf90_rename_var(nc, w, 'letters'))
  call check(nf90_def_var(nc, 'late', nf90_double, (/ x /), i))
  call check(nf90_enddef(nc))
  call check(nf90_put_var(nc, i, (/ 1, 2, 3, 4, 5, 6 /)))
  call check(nf90_close(nc))
contains
  subroutine check(status)
    integer, intent(in) :: status
    if (status /= nf90_noerr) then
      print *, trim(nf90_strerror(status))
      stop 2
    end if
  end subroutine check
end program groups

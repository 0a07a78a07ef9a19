/* All that the library of the old name has of its own: the release it speaks for, the last of that name. Programs of its
 * time compare releases as text, and take 4.10 for older than 4.4. */
const char *nc_inq_libvers(void);

const char *nc_inq_libvers(void)
{
    return "4.9.2 of Mar 14 2023 00:00:00 $";
}

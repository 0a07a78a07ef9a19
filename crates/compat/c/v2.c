/* What errors of version 2 print, and how they end the process: the argument is ncopts, or "default". */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int
main(int argc, char **argv)
{
    int more = 3;
    if (argc > 1 && strcmp(argv[1], "default") != 0)
        ncopts = atoi(argv[1]);
    setvbuf(stdout, NULL, _IONBF, 0);
    printf("ncopts %d ncerr %d\n", ncopts, ncerr);
    nc_advise("nothing", NC_NOERR, "all is well");
    printf("ncerr %d\n", ncerr);
    nc_advise("numbers", NC_NOERR, "%d %5ld|%-6s|%c %x %% %lu %d %d", -1, 2L, "ab", 'c', 255, 7UL, more, 9);
    printf("%d ncerr %d\n", ncopen("/none/of/this.nc", 0), ncerr);
    printf("%d ncerr %d\n", ncclose(-1), ncerr);
    printf("%d ncerr %d\n", ncattinq(-1, 2, "name", NULL, NULL), ncerr);
    nc_advise("mine", NC_EBADDIM, "dimension %s of %d", "x", 12);
    printf("the end, ncerr %d\n", ncerr);
    return 0;
}

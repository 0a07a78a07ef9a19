/* Children of fork use the library while another thread of their parent opens and closes files. Ends with 0 if all did. */
#include <netcdf.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int done;

static void *open_and_close(void *unused)
{
    int nc;
    while (!done)
        if (!nc_open("forks.nc", 0, &nc))
            nc_close(nc);
    return unused;
}

static int use_it(void)
{
    int nc, value;
    size_t at = 1;
    /* A child that hangs is ended by its alarm. */
    alarm(20);
    if (nc_open("forks.nc", NC_WRITE, &nc) || nc_get_var1_int(nc, 0, &at, &value))
        return 1;
    return nc_close(nc) || value != 8;
}

int main(void)
{
    int nc, dim, var, wrong = 0, values[3] = {7, 8, 9};
    pthread_t thread;
    if (nc_create("forks.nc", NC_CLOBBER, &nc) || nc_def_dim(nc, "x", 3, &dim) ||
        nc_def_var(nc, "v", NC_INT, 1, &dim, &var) || nc_enddef(nc) || nc_put_var_int(nc, var, values) || nc_close(nc))
        return 2;
    pthread_create(&thread, NULL, open_and_close, NULL);
    for (int child = 0; child < 300; child++) {
        int status = 1;
        pid_t pid = fork();
        if (!pid)
            _exit(use_it());
        waitpid(pid, &status, 0);
        wrong += status != 0;
    }
    done = 1;
    pthread_join(thread, NULL);
    printf("%d of 300 children failed\n", wrong);
    return wrong != 0;
}

/* Runs a command and writes what it cost to a file: wall seconds, CPU seconds, peak memory in KiB.
 * usage: run REPORT STDOUT COMMAND [ARGUMENT...] */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double seconds(const struct timeval *t) { return t->tv_sec + t->tv_usec / 1e6; }

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    struct timespec from, to;
    clock_gettime(CLOCK_MONOTONIC, &from);
    pid_t child = fork();
    if (child < 0)
        return 2;
    if (child == 0) {
        int out = open(argv[2], O_WRONLY | O_CREAT | O_TRUNC, 0644);
        if (out < 0 || dup2(out, 1) < 0)
            _exit(126);
        execvp(argv[3], argv + 3);
        _exit(127);
    }
    int status;
    struct rusage used;
    if (wait4(child, &status, 0, &used) < 0)
        return 2;
    clock_gettime(CLOCK_MONOTONIC, &to);
    FILE *report = fopen(argv[1], "w");
    if (!report)
        return 2;
    double wall = (to.tv_sec - from.tv_sec) + (to.tv_nsec - from.tv_nsec) / 1e9;
    fprintf(report, "%.6f %.6f %ld\n", wall, seconds(&used.ru_utime) + seconds(&used.ru_stime), used.ru_maxrss);
    fclose(report);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* What the peer's programs share: checked calls, the clock, the shape of a variable. */
#ifndef COMMON_H
#define COMMON_H
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define CHECK(call)                                                                                                  \
    do {                                                                                                             \
        int code_ = (call);                                                                                          \
        if (code_) {                                                                                                 \
            fprintf(stderr, "%s: %s\n", #call, nc_strerror(code_));                                                  \
            exit(1);                                                                                                 \
        }                                                                                                            \
    } while (0)

static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + t.tv_nsec / 1e9;
}

static inline size_t elements(int nc, int var, size_t *shape)
{
    int dims[NC_MAX_VAR_DIMS], rank;
    size_t count = 1;
    CHECK(nc_inq_varndims(nc, var, &rank));
    CHECK(nc_inq_vardimid(nc, var, dims));
    for (int d = 0; d < rank; d++) {
        CHECK(nc_inq_dimlen(nc, dims[d], &shape[d]));
        count *= shape[d];
    }
    return count;
}
#endif

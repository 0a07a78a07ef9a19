/* Sixteen threads on the C interface at once. usage: threads SECONDS
 * Each makes files of its own; all read one file, write one file (each its own variable), and open, ask and close at
 * random. Every value that is read is checked. Ends with 0 if none was wrong. */
#include <netcdf.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS = 16, ROWS = 200, COLUMNS = 300 };

static atomic_int wrong;
static atomic_long calls;
static time_t end;
static int shared_read, shared_write, shared_vars[THREADS];

#define CHECK(call)                                                                                                  \
    do {                                                                                                             \
        int code_ = (call);                                                                                          \
        atomic_fetch_add(&calls, 1);                                                                                 \
        if (code_) {                                                                                                 \
            fprintf(stderr, "%d: %s: %s\n", __LINE__, #call, nc_strerror(code_));                                    \
            atomic_fetch_add(&wrong, 1);                                                                             \
        }                                                                                                            \
    } while (0)

#define EXPECT(truth)                                                                                                \
    do {                                                                                                             \
        if (!(truth)) {                                                                                              \
            fprintf(stderr, "%d: wrong: %s\n", __LINE__, #truth);                                                    \
            atomic_fetch_add(&wrong, 1);                                                                             \
        }                                                                                                            \
    } while (0)

static uint64_t random_number(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state >> 20;
}

static double value_at(size_t row, size_t column) { return (double)row * 1000 + (double)column; }

static void make(const char *path, int mode, size_t rows)
{
    static const char *words = "some text";
    int nc, dims[2], v, r;
    double row[COLUMNS];
    CHECK(nc_create(path, NC_CLOBBER | mode, &nc));
    CHECK(nc_def_dim(nc, "row", NC_UNLIMITED, &dims[0]));
    CHECK(nc_def_dim(nc, "column", COLUMNS, &dims[1]));
    CHECK(nc_def_var(nc, "v", NC_DOUBLE, 2, dims, &v));
    CHECK(nc_def_var(nc, "r", NC_INT, 1, dims, &r));
    CHECK(nc_put_att_text(nc, v, "words", strlen(words), words));
    CHECK(nc_enddef(nc));
    for (size_t at = 0; at < rows; at++) {
        size_t start[2] = {at, 0}, count[2] = {1, COLUMNS};
        int number = (int)at;
        for (size_t column = 0; column < COLUMNS; column++)
            row[column] = value_at(at, column);
        CHECK(nc_put_vara_double(nc, v, start, count, row));
        CHECK(nc_put_var1_int(nc, r, start, &number));
    }
    CHECK(nc_close(nc));
}

static void read_some(int nc, uint64_t *state)
{
    static _Thread_local float values[ROWS * COLUMNS];
    int v, r, number;
    CHECK(nc_inq_varid(nc, "v", &v));
    CHECK(nc_inq_varid(nc, "r", &r));
    size_t rows;
    CHECK(nc_inq_dimlen(nc, 0, &rows));
    size_t start[2] = {random_number(state) % rows, random_number(state) % COLUMNS};
    size_t count[2] = {1 + random_number(state) % (rows - start[0]), 1 + random_number(state) % (COLUMNS - start[1])};
    CHECK(nc_get_vara_float(nc, v, start, count, values));
    for (size_t at = 0; at < count[0] * count[1]; at++)
        EXPECT(values[at] == (float)value_at(start[0] + at / count[1], start[1] + at % count[1]));
    double one;
    CHECK(nc_get_var1_double(nc, v, start, &one));
    EXPECT(one == value_at(start[0], start[1]));
    CHECK(nc_get_var1_int(nc, r, start, &number));
    EXPECT(number == (int)start[0]);
    char text[32] = {0};
    CHECK(nc_get_att_text(nc, v, "words", text));
    EXPECT(!strcmp(text, "some text"));
    EXPECT(nc_inq_varid(nc, "nothing", &v) == NC_ENOTVAR);
    EXPECT(nc_get_var1_int(nc, 99, start, &number) == NC_ENOTVAR);
}

static void write_shared(int thread, uint64_t *state, int *column)
{
    size_t start[2] = {random_number(state) % ROWS, 0}, count[2] = {1, COLUMNS};
    int back[COLUMNS];
    for (int at = 0; at < COLUMNS; at++)
        column[at] = thread * 1000000 + (int)start[0] * 1000 + at;
    CHECK(nc_put_vara_int(shared_write, shared_vars[thread], start, count, column));
    CHECK(nc_get_vara_int(shared_write, shared_vars[thread], start, count, back));
    EXPECT(!memcmp(back, column, sizeof back));
    if (random_number(state) % 50 == 0)
        CHECK(nc_sync(shared_write));
}

static void *work(void *argument)
{
    int thread = (int)(intptr_t)argument, nc, column[COLUMNS];
    uint64_t state = 88172645463325252u + (uint64_t)thread * 7919;
    char path[64];
    static const int modes[] = {0, NC_64BIT_OFFSET, NC_64BIT_DATA, NC_DISKLESS};
    while (time(NULL) < end && !atomic_load(&wrong)) {
        switch (random_number(&state) % 6) {
        case 0:
            snprintf(path, sizeof path, "own%d.nc", thread);
            make(path, modes[random_number(&state) % 3], 1 + random_number(&state) % 40);
            CHECK(nc_open(path, random_number(&state) % 2 ? NC_WRITE : 0, &nc));
            read_some(nc, &state);
            CHECK(nc_close(nc));
            break;
        case 1:
            CHECK(nc_open("shared.nc", modes[3] * (int)(random_number(&state) % 2), &nc));
            read_some(nc, &state);
            CHECK(nc_close(nc));
            break;
        case 2:
            snprintf(path, sizeof path, "own%d.nc", thread);
            make(path, 0, 3);
            CHECK(nc_open(path, NC_WRITE, &nc));
            CHECK(nc_redef(nc));
            int dim, var;
            CHECK(nc_def_dim(nc, "more", 7, &dim));
            CHECK(nc_def_var(nc, "later", NC_SHORT, 1, &dim, &var));
            CHECK(nc_put_att_int(nc, NC_GLOBAL, "thread", NC_INT, 1, &thread));
            CHECK(nc_enddef(nc));
            short fill;
            size_t zero = 0;
            CHECK(nc_get_var1_short(nc, var, &zero, &fill));
            EXPECT(fill == NC_FILL_SHORT);
            read_some(nc, &state);
            CHECK(nc_close(nc));
            break;
        case 3:
            write_shared(thread, &state, column);
            break;
        default:
            read_some(shared_read, &state);
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int dims[2];
    end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 10);
    make("shared.nc", NC_64BIT_DATA, ROWS);
    CHECK(nc_open("shared.nc", 0, &shared_read));
    CHECK(nc_create("written.nc", NC_CLOBBER, &shared_write));
    CHECK(nc_def_dim(shared_write, "row", NC_UNLIMITED, &dims[0]));
    CHECK(nc_def_dim(shared_write, "column", COLUMNS, &dims[1]));
    for (int thread = 0; thread < THREADS; thread++) {
        char name[16];
        snprintf(name, sizeof name, "v%d", thread);
        CHECK(nc_def_var(shared_write, name, NC_INT, 2, dims, &shared_vars[thread]));
    }
    CHECK(nc_enddef(shared_write));
    for (intptr_t thread = 0; thread < THREADS; thread++)
        pthread_create(&threads[thread], NULL, work, (void *)thread);
    for (int thread = 0; thread < THREADS; thread++)
        pthread_join(threads[thread], NULL);
    CHECK(nc_close(shared_write));
    CHECK(nc_close(shared_read));
    printf("%ld calls, %d wrong\n", atomic_load(&calls), atomic_load(&wrong));
    return atomic_load(&wrong) != 0;
}

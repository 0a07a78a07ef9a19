/* Tells a story to the library, a call for each line, while requests to the system fail; and goes on in one of several ways.
 *
 *     story SCRIPT count FILE            runs the story without faults; prints how many requests it makes
 *     story SCRIPT run FOLDER < CASES    for each line "name n kind times way" runs it in a process of its own on the file
 *                                        FOLDER/name, and writes what each call answered to FOLDER/name.log
 *
 * A script has a call on each line; see `step`. A file that begins with a call `open` is copied from SCRIPT.start. A Zarr store is
 * a folder in place of the file.
 *
 * The kind `disk` is no fault of a request: the file lies in the folder that the environment variable DISK names, a small file
 * system of its own, of which all but n KiB is taken. If times is 1, room is made after the first call that fails. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <netcdf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>
#include "fault.h"

enum { LINES = 1000, WORDS = 16, TRIES = 12, SECONDS = 60 };

static char *lines[LINES];
static int count;

static int nc = -1;
static const char *file;
static FILE *told;

static void check(int good, const char *what)
{
    if (!good) {
        fprintf(stderr, "story: %s: %s\n", what, strerror(errno));
        exit(2);
    }
}

static void read_script(const char *path)
{
    char *line = NULL;
    size_t room = 0;
    FILE *script = fopen(path, "r");
    check(script != NULL, path);
    while (getline(&line, &room, script) > 0) {
        line[strcspn(line, "\n")] = 0;
        check(count < LINES, "too many lines");
        lines[count++] = strdup(line);
    }
    fclose(script);
}

static void copy(const char *source, const char *target)
{
    struct stat meta;
    int from = open(source, O_RDONLY), to = open(target, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    check(from >= 0 && to >= 0 && fstat(from, &meta) == 0, source);
    check(sendfile(to, from, NULL, (size_t)meta.st_size) == meta.st_size, "copy");
    close(from);
    close(to);
}

/* Runs a program that ends well. */
static void run_program(char *const words[])
{
    int status;
    pid_t child = fork();
    check(child >= 0, "fork");
    if (child == 0) {
        fault_arm(-1, EIO_, 0);
        execvp(words[0], words);
        _exit(127);
    }
    check(waitpid(child, &status, 0) == child && status == 0, words[0]);
}

static void remove_all(const char *path)
{
    run_program((char *const[]){"rm", "-rf", (char *)path, NULL});
}

/* Copies a file, or a store with all that is in its folder. */
static void copy_all(const char *source, const char *target)
{
    struct stat meta;
    if (stat(source, &meta) == 0 && S_ISDIR(meta.st_mode)) {
        remove_all(target);
        run_program((char *const[]){"cp", "-rT", (char *)source, (char *)target, NULL});
    } else
        copy(source, target);
}

static void copy_start(const char *script)
{
    char path[4096];
    snprintf(path, sizeof path, "%s.start", script);
    copy_all(path, file);
}

/* The file that takes the space of the disk; empty if there is none. */
static char ballast[4096];
/* Whether it goes after the first call that fails. */
static int makes_room;

static void fill_disk(const char *disk, long free_kib)
{
    struct statvfs space;
    snprintf(ballast, sizeof ballast, "%s/ballast", disk);
    int fd = open(ballast, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    check(fd >= 0 && fstatvfs(fd, &space) == 0, ballast);
    off_t len = (off_t)(space.f_bavail * space.f_frsize) - 1024 * free_kib;
    if (len > 0)
        check((errno = posix_fallocate(fd, 0, len)) == 0, ballast);
    close(fd);
}

static void make_room(void)
{
    if (ballast[0])
        check(unlink(ballast) == 0, ballast);
    ballast[0] = 0;
}

/* The group that a path lies in, and the name in it. */
static int group_of(const char *path, const char **name, int *status)
{
    const char *slash = strrchr(path, '/');
    int group = nc;
    *name = slash ? slash + 1 : path;
    if (slash) {
        char parent[256];
        snprintf(parent, sizeof parent, "%.*s", (int)(slash - path), path);
        *status = nc_inq_grp_full_ncid(nc, parent, &group);
    }
    return group;
}

static int variable(const char *path, int *group, int *var)
{
    int status = NC_NOERR;
    const char *name;
    *group = group_of(path, &name, &status);
    if (strcmp(name, ".") == 0) {
        *var = NC_GLOBAL;
        return status;
    }
    return status ? status : nc_inq_varid(*group, name, var);
}

static int numbers(char *text, size_t *into)
{
    int at = 0;
    for (char *word = strtok(text, ","); word; word = strtok(NULL, ","))
        into[at++] = strtoul(word, NULL, 10);
    return at;
}

static nc_type type_named(const char *name)
{
    return strcmp(name, "int") == 0 ? NC_INT
        : strcmp(name, "double") == 0 ? NC_DOUBLE
        : strcmp(name, "short") == 0 ? NC_SHORT
        : strcmp(name, "string") == 0 ? NC_STRING
                                      : NC_FLOAT;
}

static int define_variable(char **words, int many)
{
    int dims[8], rank = 0, var, status = NC_NOERR;
    const char *name;
    int group = group_of(words[1], &name, &status);
    char *last = strcmp(words[3], "-") == 0 ? NULL : words[3];
    for (char *word = last ? strtok(last, ",") : NULL; word && !status; word = strtok(NULL, ","))
        status = nc_inq_dimid(group, word, &dims[rank++]);
    if (status || (status = nc_def_var(group, name, type_named(words[2]), rank, dims, &var)))
        return status;
    for (int at = 4; at < many && !status; at++) {
        char *value = strchr(words[at], '=') + 1;
        size_t chunks[8];
        if (strncmp(words[at], "deflate", 7) == 0)
            status = nc_def_var_deflate(group, var, 1, 1, atoi(value));
        else if (strncmp(words[at], "fletcher", 8) == 0)
            status = nc_def_var_fletcher32(group, var, NC_FLETCHER32);
        else if (strncmp(words[at], "nofill", 6) == 0)
            status = nc_def_var_fill(group, var, NC_NOFILL, NULL);
        else if (numbers(value, chunks))
            status = nc_def_var_chunking(group, var, NC_CHUNKED, chunks);
    }
    return status;
}

/* The text of an attribute or an element. */
static char *text_of(long seed, long at, size_t len)
{
    char *text = malloc(len + 32);
    int head = sprintf(text, "s%ld_%ld_", seed, at);
    for (size_t rest = (size_t)head; rest < len; rest++)
        text[rest] = (char)('a' + rest % 26);
    text[len > (size_t)head ? len : (size_t)head] = 0;
    return text;
}

/* Writes elements whose values tell the put and their position in the variable. */
static int put(char **words)
{
    static const size_t WEIGHTS[] = {7, 317, 7919};
    int group, var, status = variable(words[1], &group, &var);
    long seed = atol(words[2]);
    size_t start[8], edge[8], all = 1;
    nc_type type;
    if (status || (status = nc_inq_vartype(group, var, &type)))
        return status;
    int rank = numbers(words[3], start);
    numbers(words[4], edge);
    for (int dim = 0; dim < rank; dim++)
        all *= edge[dim];
    double *values = malloc(all * sizeof *values);
    char **texts = malloc(all * sizeof *texts);
    for (size_t number = 0; number < all; number++) {
        size_t rest = number, place = 0;
        for (int dim = rank - 1; dim >= 0; dim--) {
            place += (start[dim] + rest % edge[dim]) * WEIGHTS[dim];
            rest /= edge[dim];
        }
        place %= 100000;
        values[number] = (double)(seed * 100000 + (long)place);
        texts[number] = type == NC_STRING ? text_of(seed, (long)place, 20 + place % 300) : NULL;
    }
    status = type == NC_STRING ? nc_put_vara_string(group, var, start, edge, (const char **)texts)
                               : nc_put_vara_double(group, var, start, edge, values);
    for (size_t number = 0; number < all; number++)
        free(texts[number]);
    free(values);
    free(texts);
    return status;
}

static int rename_thing(char **words)
{
    int group, id, status = NC_NOERR;
    const char *name;
    if (strcmp(words[0], "rename_dim") == 0) {
        group = group_of(words[1], &name, &status);
        if (!status)
            status = nc_inq_dimid(group, name, &id);
        return status ? status : nc_rename_dim(group, id, words[2]);
    }
    status = variable(words[1], &group, &id);
    if (status)
        return status;
    return strcmp(words[0], "rename_var") == 0 ? nc_rename_var(group, id, words[2])
                                               : nc_rename_att(group, id, words[2], words[3]);
}

static int attribute(char **words)
{
    int group, var, status = variable(words[1], &group, &var);
    long seed = atol(words[3]);
    char *text = text_of(seed, 0, strtoul(words[4], NULL, 10));
    if (!status && strcmp(words[0], "att_string") == 0)
        status = nc_put_att_string(group, var, words[2], 1, (const char **)&text);
    else if (!status)
        status = nc_put_att_text(group, var, words[2], strlen(text), text);
    free(text);
    return status;
}

static int create(const char *kind)
{
    if (strncmp(kind, "nczarr", 6) == 0) {
        char url[4200];
        snprintf(url, sizeof url, "file://%s#mode=nczarr,file%s", file, kind[6] == '3' ? ",v3" : "");
        return nc_create(url, NC_NETCDF4 | NC_CLOBBER, &nc);
    }
    int mode = strcmp(kind, "cdf2") == 0 ? NC_64BIT_OFFSET
        : strcmp(kind, "cdf5") == 0      ? NC_64BIT_DATA
        : strcmp(kind, "nc4") == 0       ? NC_NETCDF4
        : strcmp(kind, "nc4c") == 0      ? NC_NETCDF4 | NC_CLASSIC_MODEL
                                         : 0;
    return nc_create(file, mode | NC_CLOBBER, &nc);
}

/* Does one line of a script. */
static int step(const char *line)
{
    char text[512], *words[WORDS];
    int many = 0, status, group, id;
    snprintf(text, sizeof text, "%s", line);
    char *rest = text;
    for (char *word = strtok_r(text, " ", &rest); word && many < WORDS; word = strtok_r(NULL, " ", &rest))
        words[many++] = word;
    const char *call = words[0];
    if (strcmp(call, "create") == 0)
        return create(words[1]);
    if (strcmp(call, "open") == 0)
        return nc_open(file, NC_WRITE, &nc);
    if (strcmp(call, "group") == 0)
        return nc_def_grp(nc, words[1], &id);
    if (strcmp(call, "dim") == 0) {
        const char *name;
        status = NC_NOERR;
        group = group_of(words[1], &name, &status);
        size_t len = strtoul(words[2], NULL, 10);
        return status ? status : nc_def_dim(group, name, len ? len : NC_UNLIMITED, &id);
    }
    if (strcmp(call, "var") == 0)
        return define_variable(words, many);
    if (strcmp(call, "put") == 0)
        return put(words);
    if (strncmp(call, "rename", 6) == 0)
        return rename_thing(words);
    if (strncmp(call, "att", 3) == 0)
        return attribute(words);
    if (strcmp(call, "del_att") == 0) {
        status = variable(words[1], &group, &id);
        return status ? status : nc_del_att(group, id, words[2]);
    }
    if (strcmp(call, "enddef") == 0)
        return nc_enddef(nc);
    if (strcmp(call, "redef") == 0)
        return nc_redef(nc);
    if (strcmp(call, "sync") == 0)
        return nc_sync(nc);
    if (strcmp(call, "close") == 0)
        return nc_close(nc);
    if (strcmp(call, "abort") == 0)
        return nc_abort(nc);
    fprintf(stderr, "story: unknown call %s\n", call);
    exit(2);
}

/* Does a line and tells what it answered; its number is -1 if the script does not have it. */
static int tell(int number, const char *line)
{
    int status = step(line);
    if (status && makes_room)
        make_room();
    if (told)
        fprintf(told, "%d %d %s\n", number, status, line);
    return status;
}

static int tell_again(int number, const char *line)
{
    int status = NC_NOERR;
    for (int tries = 0; tries < TRIES && (tries == 0 || status); tries++)
        status = tell(number, line);
    return status;
}

/* Runs the script; from the first call that fails on in the given way. */
static void run(char way)
{
    for (int at = 0; at < count; at++) {
        int status = tell(at, lines[at]);
        if (!status)
            continue;
        if (at == 0)
            return; /* Nothing is open. */
        switch (way) {
        case 'r': /* The call is repeated, then the story goes on. */
            if (tell_again(at, lines[at]) && strcmp(lines[at], "close") == 0)
                return;
            break;
        case 'g': /* The story goes on as if nothing had been. */
            if (strcmp(lines[at], "close") == 0)
                tell_again(-1, "close");
            break;
        case 's':
            tell(-1, "sync");
            tell_again(-1, "close");
            return;
        case 'c':
            tell_again(-1, "close");
            return;
        case 'a':
            tell(-1, "abort");
            return;
        default: /* The process ends. */
            return;
        }
    }
}

static void run_case(const char *script, const char *folder, char *line)
{
    char name[64], kind[16], way, path[4096], log[4200], on_disk[4200];
    long n, times;
    check(sscanf(line, "%63s %ld %15s %ld %c", name, &n, kind, &times, &way) == 5, line);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    snprintf(log, sizeof log, "%s.log", path);
    const char *disk = strcmp(kind, "disk") == 0 ? getenv("DISK") : NULL;
    snprintf(on_disk, sizeof on_disk, "%s/%s", disk ? disk : "", name);
    file = disk ? on_disk : path;
    struct stat meta;
    if (stat(path, &meta) == 0 && S_ISDIR(meta.st_mode))
        remove_all(path);
    if (strcmp(lines[0], "open") == 0)
        copy_start(script);
    pid_t child = fork();
    check(child >= 0, "fork");
    if (child == 0) {
        alarm(SECONDS);
        told = fopen(log, "w");
        check(told != NULL, log);
        /* What was told is there whatever happens next. */
        setvbuf(told, NULL, _IOLBF, 0);
        if (disk) {
            makes_room = times == 1;
            fault_arm(-1, EIO_, 0);
            fill_disk(disk, n);
        } else {
            fault_arm(n, fault_named(kind), times < 0 ? 1L << 60 : times);
        }
        run(way);
        fault_arm(-1, EIO_, 0);
        _exit(0);
    }
    int status;
    check(waitpid(child, &status, 0) == child, "wait");
    if (status != 0) {
        told = fopen(log, "a");
        fprintf(told, "ended with %d\n", status);
        fclose(told);
    }
    if (disk) {
        if (access(file, F_OK) == 0)
            copy_all(file, path);
        snprintf(ballast, sizeof ballast, "%s/ballast", disk);
        unlink(ballast);
        remove_all(file);
        ballast[0] = 0;
    }
}

int main(int argc, char **argv)
{
    check(argc == 4, "wrong arguments");
    read_script(argv[1]);
    if (strcmp(argv[2], "count") == 0) {
        file = argv[3];
        if (strcmp(lines[0], "open") == 0)
            copy_start(argv[1]);
        fault_arm(-1, EIO_, 0);
        for (int at = 0; at < count; at++) {
            int status = step(lines[at]);
            if (status) {
                fprintf(stderr, "story: %s: %s\n", lines[at], nc_strerror(status));
                return 1;
            }
        }
        printf("%ld\n", fault_passed());
        return 0;
    }
    char line[256];
    while (fgets(line, sizeof line, stdin))
        run_case(argv[1], argv[3], line);
    return 0;
}

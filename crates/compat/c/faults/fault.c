/* Lets chosen requests to the system fail: the n-th write, truncation, flush, or change of a folder, and some behind it.
 *
 * The functions of the C library are replaced: by a program that is linked with this file and exports its symbols, or by
 * preloading it as a library, which reads FAULT="n kind times" from the environment. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "fault.h"

static long passed, first = -1, left;
static enum fault_kind kind;
/* Whether removals fail too. Not those of preloaded programs: nobody could remove what such a program leaves. */
static int removals_fail = 1;

static const char *const NAMES[] = {"eio", "enospc", "eintr", "short", "zero", "full", "kill"};

enum fault_kind fault_named(const char *name)
{
    for (int at = 0; at < (int)(sizeof NAMES / sizeof *NAMES); at++)
        if (strcmp(name, NAMES[at]) == 0)
            return (enum fault_kind)at;
    fprintf(stderr, "no fault is named %s\n", name);
    exit(2);
}

void fault_arm(long n, enum fault_kind which, long times)
{
    passed = 0;
    first = n;
    kind = which;
    left = times;
}

long fault_passed(void)
{
    return passed;
}

__attribute__((constructor)) static void from_environment(void)
{
    const char *text = getenv("FAULT");
    char name[16];
    long n, times;
    removals_fail = text == NULL;
    if (text && sscanf(text, "%ld %15s %ld", &n, name, &times) == 3)
        fault_arm(n, fault_named(name), times < 0 ? 1L << 60 : times);
}

/* At the end of a preloaded process, how many requests there were. */
__attribute__((destructor)) static void to_file(void)
{
    const char *path = getenv("FAULT_COUNT");
    FILE *file = path ? fopen(path, "w") : NULL;
    if (file) {
        fprintf(file, "%ld\n", passed);
        fclose(file);
    }
}

/* Whether this request fails. */
static int strikes(void)
{
    long number = passed++;
    if (first < 0 || number < first || left <= 0)
        return 0;
    if (kind == KILL)
        raise(SIGKILL);
    left--;
    return 1;
}

static int fail(void)
{
    errno = kind == ENOSPC_ || kind == FULL ? ENOSPC : kind == EINTR_ ? EINTR : EIO;
    return -1;
}

static ssize_t write_some(int fd, const void *from, size_t len, off_t at)
{
    static ssize_t (*real)(int, const void *, size_t, off_t);
    if (!real)
        real = (ssize_t(*)(int, const void *, size_t, off_t))dlsym(RTLD_NEXT, "pwrite64");
    if (len == 0 || !strikes())
        return real(fd, from, len, at);
    if (kind == SHORT_)
        return real(fd, from, (len + 1) / 2, at);
    if (kind == ZERO)
        return 0;
    if (kind == FULL) {
        /* What the file has can be overwritten; it cannot grow. */
        struct stat meta;
        off_t end = fstat(fd, &meta) == 0 ? meta.st_size : 0;
        if (at + (off_t)len <= end)
            return real(fd, from, len, at);
        return at < end ? real(fd, from, (size_t)(end - at), at) : fail();
    }
    return fail();
}

ssize_t pwrite64(int fd, const void *from, size_t len, off_t at)
{
    return write_some(fd, from, len, at);
}

ssize_t pwrite(int fd, const void *from, size_t len, off_t at)
{
    return write_some(fd, from, len, at);
}

/* What is written to files one after the other; not what is written to terminals and pipes. */
ssize_t write(int fd, const void *from, size_t len)
{
    static ssize_t (*real)(int, const void *, size_t);
    if (!real)
        real = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
    struct stat meta;
    if (fstat(fd, &meta) != 0 || !S_ISREG(meta.st_mode))
        return real(fd, from, len);
    off_t at = lseek(fd, 0, SEEK_CUR);
    ssize_t done = write_some(fd, from, len, at);
    if (done > 0)
        lseek(fd, at + done, SEEK_SET);
    return done;
}

static int truncate_it(int fd, off_t size)
{
    static int (*real)(int, off_t);
    if (!real)
        real = (int (*)(int, off_t))dlsym(RTLD_NEXT, "ftruncate64");
    /* A full disk can hold a hole. */
    return strikes() && kind != SHORT_ && kind != ZERO && kind != FULL ? fail() : real(fd, size);
}

int ftruncate64(int fd, off_t size)
{
    return truncate_it(fd, size);
}

int ftruncate(int fd, off_t size)
{
    return truncate_it(fd, size);
}

static int flush(int fd, const char *name)
{
    int (*real)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    return strikes() && kind != SHORT_ && kind != ZERO && kind != FULL ? fail() : real(fd);
}

int fdatasync(int fd)
{
    return flush(fd, "fdatasync");
}

int fsync(int fd)
{
    return flush(fd, "fsync");
}

/* Whether a request that changes a folder fails. A short write is none, and on a full disk what exists can be renamed and removed. */
static int folder_fails(int takes_space)
{
    return strikes() && kind != SHORT_ && kind != ZERO && kind != EINTR_ && (kind != FULL || takes_space);
}

static int open_file(const char *name, const char *path, int flags, mode_t mode)
{
    int (*real)(const char *, int, mode_t) = (int (*)(const char *, int, mode_t))dlsym(RTLD_NEXT, name);
    int makes = (flags & O_CREAT) != 0 && strncmp(path, "/dev/", 5) != 0;
    return makes && folder_fails(1) ? fail() : real(path, flags, mode);
}

#define OPEN(name)                                                                                                    \
    int name(const char *path, int flags, ...)                                                                       \
    {                                                                                                                 \
        va_list rest;                                                                                                 \
        va_start(rest, flags);                                                                                        \
        mode_t mode = va_arg(rest, mode_t);                                                                           \
        va_end(rest);                                                                                                 \
        return open_file(#name, path, flags, mode);                                                                   \
    }

OPEN(open)
OPEN(open64)

int rename(const char *from, const char *to)
{
    int (*real)(const char *, const char *) = (int (*)(const char *, const char *))dlsym(RTLD_NEXT, "rename");
    return folder_fails(0) ? fail() : real(from, to);
}

int mkdir(const char *path, mode_t mode)
{
    int (*real)(const char *, mode_t) = (int (*)(const char *, mode_t))dlsym(RTLD_NEXT, "mkdir");
    return folder_fails(1) ? fail() : real(path, mode);
}

int linkat(int from_folder, const char *from, int to_folder, const char *to, int flags)
{
    int (*real)(int, const char *, int, const char *, int) =
        (int (*)(int, const char *, int, const char *, int))dlsym(RTLD_NEXT, "linkat");
    return folder_fails(1) ? fail() : real(from_folder, from, to_folder, to, flags);
}

int unlink(const char *path)
{
    int (*real)(const char *) = (int (*)(const char *))dlsym(RTLD_NEXT, "unlink");
    return removals_fail && folder_fails(0) ? fail() : real(path);
}

/* Runs scripts of netCDF calls on the reference library.
 *
 *   script FILE.nc SCRIPT TRANSCRIPT [FILE.nc SCRIPT TRANSCRIPT ...]
 *
 * Each script runs in a process of its own, since the reference ends the process where an assertion of its own fails;
 * the transcript then ends with the line "died". A transcript holds one line for each line of the script: the code
 * that the call gave, and what it read. src/script.rs describes the language and runs it on ferrocdf.
 */
#include <netcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RANK 16

static FILE *out;
static int nc = -1;

static void *need(void *memory) {
    if (!memory) {
        fprintf(stderr, "script: no memory\n");
        exit(3);
    }
    return memory;
}

static char *word(char **at) {
    char *token = strsep(at, " ");
    if (!token) {
        fprintf(stderr, "script: a word is missing\n");
        exit(3);
    }
    return token;
}

static long long number(char **at) { return strtoll(word(at), NULL, 10); }

static size_t size(char **at) { return strtoull(word(at), NULL, 10); }

/* Bytes from hexadecimal digits, behind a dot so that there is always a word. A zero byte follows them. */
static unsigned char *hex(char **at, size_t *len) {
    char *text = word(at) + 1;
    size_t n = strlen(text) / 2;
    unsigned char *bytes = need(malloc(n + 1));
    for (size_t i = 0; i < n; i++) {
        unsigned value;
        sscanf(text + 2 * i, "%2x", &value);
        bytes[i] = (unsigned char)value;
    }
    bytes[n] = 0;
    if (len) *len = n;
    return bytes;
}

static void print_hex(const void *data, size_t len) {
    const unsigned char *bytes = data;
    fputs(" .", out);
    for (size_t i = 0; i < len; i++) fprintf(out, "%02x", bytes[i]);
}

static size_t type_size(int type) {
    static const size_t sizes[] = {0, 1, 1, 2, 4, 4, 8, 1, 2, 4, 8, 8};
    return type >= 1 && type <= 11 ? sizes[type] : 8;
}

/* The functions of one kind of memory. `kind` is a for a hyperslab, s with strides, m mapped. */
#define ACCESS(type, name, c_type)                                                                                   \
    case type:                                                                                                       \
        if (put) {                                                                                                   \
            const c_type *from = memory;                                                                             \
            return kind == 'a'   ? nc_put_vara_##name(nc, var, start, count, from)                                   \
                   : kind == 's' ? nc_put_vars_##name(nc, var, start, count, stride, from)                           \
                                 : nc_put_varm_##name(nc, var, start, count, stride, map, from);                     \
        } else {                                                                                                     \
            c_type *to = memory;                                                                                     \
            return kind == 'a'   ? nc_get_vara_##name(nc, var, start, count, to)                                     \
                   : kind == 's' ? nc_get_vars_##name(nc, var, start, count, stride, to)                             \
                                 : nc_get_varm_##name(nc, var, start, count, stride, map, to);                       \
        }

static int transfer(int put, char kind, int var, int memory_type, const size_t *start, const size_t *count,
                    const ptrdiff_t *stride, const ptrdiff_t *map, void *memory) {
    switch (memory_type) {
        ACCESS(NC_BYTE, schar, signed char)
        ACCESS(NC_CHAR, text, char)
        ACCESS(NC_SHORT, short, short)
        ACCESS(NC_INT, int, int)
        ACCESS(NC_FLOAT, float, float)
        ACCESS(NC_DOUBLE, double, double)
        ACCESS(NC_UBYTE, uchar, unsigned char)
        ACCESS(NC_USHORT, ushort, unsigned short)
        ACCESS(NC_UINT, uint, unsigned int)
        ACCESS(NC_INT64, longlong, long long)
        ACCESS(NC_UINT64, ulonglong, unsigned long long)
    default:
        return NC_EBADTYPE;
    }
}

/* put|get KIND VAR MEMORY-TYPE RANK start.. count.. [stride..] [origin map..] .MEMORY|elements */
static int access_data(int put, char **at) {
    char kind = *word(at);
    int var = (int)number(at), type = (int)number(at), rank = (int)number(at);
    size_t start[RANK], count[RANK], origin = 0, len;
    ptrdiff_t stride[RANK], map[RANK];
    for (int i = 0; i < rank; i++) start[i] = size(at);
    for (int i = 0; i < rank; i++) count[i] = size(at);
    for (int i = 0; i < rank; i++) stride[i] = kind == 'a' ? 1 : (ptrdiff_t)number(at);
    if (kind == 'm') {
        origin = size(at);
        for (int i = 0; i < rank; i++) map[i] = (ptrdiff_t)number(at);
    }
    unsigned char *memory;
    if (put) {
        memory = hex(at, &len);
    } else {
        len = size(at) * type_size(type);
        memory = need(malloc(len + 1));
        memset(memory, 0xab, len + 1);
    }
    int code = transfer(put, kind, var, type, start, count, stride, map, memory + origin * type_size(type));
    fprintf(out, "%d", code);
    /* After an error other than NC_ERANGE what was read so far is nobody's business. */
    if (!put && (code == NC_NOERR || code == NC_ERANGE)) print_hex(memory, len);
    free(memory);
    return code;
}

static int print_atts(int var, int natts) {
    for (int i = 0; i < natts; i++) {
        char name[NC_MAX_NAME * 4 + 1];
        nc_type type;
        size_t len;
        int code = nc_inq_attname(nc, var, i, name);
        if (!code) code = nc_inq_att(nc, var, name, &type, &len);
        if (code) return code;
        void *value = need(calloc(len + 1, type_size(type)));
        code = nc_get_att(nc, var, name, value);
        if (code) return code;
        fputs(" att", out);
        print_hex(name, strlen(name));
        fprintf(out, " %d", type);
        print_hex(value, len * type_size(type));
        free(value);
    }
    return NC_NOERR;
}

/* The whole content, on one line. With `with_data` the values too, if no variable is larger than 64 MiB. */
static int dump(int with_data) {
    int ndims, nvars, natts, unlimited, format;
    int code = nc_inq(nc, &ndims, &nvars, &natts, &unlimited);
    if (code) return code;
    nc_inq_format(nc, &format);
    fprintf(out, "0 format %d", format);
    for (int i = 0; i < ndims; i++) {
        char name[NC_MAX_NAME * 4 + 1];
        size_t len;
        if ((code = nc_inq_dim(nc, i, name, &len))) return code;
        fputs(" dim", out);
        print_hex(name, strlen(name));
        fprintf(out, " %zu%s", len, i == unlimited ? " unlimited" : "");
    }
    if ((code = print_atts(NC_GLOBAL, natts))) return code;
    for (int v = 0; v < nvars; v++) {
        char name[NC_MAX_NAME * 4 + 1];
        nc_type type;
        int rank, dims[NC_MAX_VAR_DIMS];
        if ((code = nc_inq_var(nc, v, name, &type, &rank, dims, &natts))) return code;
        fputs(" var", out);
        print_hex(name, strlen(name));
        fprintf(out, " %d", type);
        size_t count[NC_MAX_VAR_DIMS], start[NC_MAX_VAR_DIMS] = {0}, elements = 1;
        for (int i = 0; i < rank; i++) {
            fprintf(out, " %d", dims[i]);
            nc_inq_dimlen(nc, dims[i], &count[i]);
            elements *= count[i];
        }
        if ((code = print_atts(v, natts))) return code;
        if (!with_data || elements > (64 << 20) / type_size(type)) continue;
        char *values = need(malloc(elements * type_size(type) + 1));
        code = nc_get_vara(nc, v, start, count, values);
        if (code) return code;
        fputs(" data", out);
        print_hex(values, elements * type_size(type));
        free(values);
    }
    return NC_NOERR;
}

static int create(char **at, const char *path) {
    int format = (int)number(at), no_fill = (int)number(at), old;
    int kind = format == 2 ? NC_64BIT_OFFSET : format == 5 ? NC_64BIT_DATA : 0;
    int code = nc_create(path, NC_CLOBBER | kind, &nc);
    if (!code && no_fill) code = nc_set_fill(nc, NC_NOFILL, &old);
    return code;
}

static int define_variable(char **at) {
    char *name = (char *)hex(at, NULL);
    nc_type type = (nc_type)number(at);
    int dims[NC_MAX_VAR_DIMS], rank = 0, id;
    while (*at) dims[rank++] = (int)number(at);
    int code = nc_def_var(nc, name, type, rank, dims, &id);
    free(name);
    return code;
}

static int put_att(char **at) {
    int owner = (int)number(at);
    char *name = (char *)hex(at, NULL);
    nc_type type = (nc_type)number(at);
    size_t len;
    void *value = hex(at, &len);
    int code = nc_put_att(nc, owner, name, type, len / type_size(type), value);
    free(name);
    free(value);
    return code;
}

static int define_fill(char **at) {
    int var = (int)number(at), no_fill = (int)number(at);
    size_t len;
    void *value = hex(at, &len);
    int code = nc_def_var_fill(nc, var, no_fill, len ? value : NULL);
    free(value);
    return code;
}

static int rename_att(char **at) {
    int owner = (int)number(at);
    char *name = (char *)hex(at, NULL), *to = (char *)hex(at, NULL);
    int code = nc_rename_att(nc, owner, name, to);
    free(name);
    free(to);
    return code;
}

static int del_att(char **at) {
    int owner = (int)number(at);
    char *name = (char *)hex(at, NULL);
    int code = nc_del_att(nc, owner, name);
    free(name);
    return code;
}

/* One line of the script: prints the code and what was read, without the end of the line. */
static void step(char *line, const char *path) {
    char **at = &line;
    const char *op = word(at);
    int code, old;
    if (!strcmp(op, "put") || !strcmp(op, "get")) {
        access_data(*op == 'p', at);
        return;
    }
    if (!strcmp(op, "dump") || !strcmp(op, "inspect")) {
        if ((code = dump(*op == 'd'))) fprintf(out, " %d", code);
        return;
    }
    if (!strcmp(op, "create")) code = create(at, path);
    else if (!strcmp(op, "open")) code = nc_open(path, NC_WRITE, &nc);
    else if (!strcmp(op, "read")) code = nc_open(path, NC_NOWRITE, &nc);
    else if (!strcmp(op, "redef")) code = nc_redef(nc);
    else if (!strcmp(op, "enddef")) code = nc_enddef(nc);
    else if (!strcmp(op, "enddef4")) {
        size_t header_free = size(at), fixed = size(at), fixed_free = size(at), records = size(at);
        code = nc__enddef(nc, header_free, fixed, fixed_free, records);
    } else if (!strcmp(op, "close")) code = nc_close(nc);
    else if (!strcmp(op, "sync")) code = nc_sync(nc);
    else if (!strcmp(op, "setfill")) code = nc_set_fill(nc, number(at) ? NC_NOFILL : NC_FILL, &old);
    else if (!strcmp(op, "dim")) {
        char *name = (char *)hex(at, NULL);
        code = nc_def_dim(nc, name, size(at), &old);
        free(name);
    } else if (!strcmp(op, "var")) code = define_variable(at);
    else if (!strcmp(op, "fill")) code = define_fill(at);
    else if (!strcmp(op, "att")) code = put_att(at);
    else if (!strcmp(op, "delatt")) code = del_att(at);
    else if (!strcmp(op, "renatt")) code = rename_att(at);
    else if (!strcmp(op, "rendim") || !strcmp(op, "renvar")) {
        int id = (int)number(at);
        char *to = (char *)hex(at, NULL);
        code = op[3] == 'd' ? nc_rename_dim(nc, id, to) : nc_rename_var(nc, id, to);
        free(to);
    } else {
        fprintf(stderr, "script: no operation %s\n", op);
        exit(3);
    }
    fprintf(out, "%d", code);
}

static void run(const char *path, const char *script, const char *transcript) {
    FILE *in = fopen(script, "r");
    out = fopen(transcript, "w");
    if (!in || !out) {
        fprintf(stderr, "script: %s or %s does not open\n", script, transcript);
        exit(3);
    }
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    while ((len = getline(&line, &room, in)) > 0) {
        if (line[len - 1] == '\n') line[len - 1] = 0;
        step(line, path);
        fputc('\n', out);
        fflush(out);
    }
    fclose(out);
    fclose(in);
    free(line);
    exit(0);
}

int main(int argc, char **argv) {
    for (int i = 1; i + 2 < argc; i += 3) {
        pid_t child = fork();
        if (child == 0) {
            /* What an assertion says is expected and read by nobody. */
            if (!freopen("/dev/null", "w", stderr)) return 3;
            run(argv[i], argv[i + 1], argv[i + 2]);
        }
        int status;
        if (child < 0 || waitpid(child, &status, 0) < 0) return 3;
        if (WIFSIGNALED(status)) {
            FILE *end = fopen(argv[i + 2], "a");
            if (!end) return 3;
            fputs("died\n", end);
            fclose(end);
        } else if (WEXITSTATUS(status) != 0) {
            fprintf(stderr, "script: %s was not understood\n", argv[i + 1]);
            return 3;
        }
    }
    return 0;
}

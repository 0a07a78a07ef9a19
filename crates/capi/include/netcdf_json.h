/*
 * A small JSON reader and writer, whole in this header, so that codec plugins need no library for it.
 *
 * A value is an NCjson. Numbers, booleans and strings keep their text; arrays hold values, objects ("dicts") hold key
 * and value in turn. The reader also takes words without quotes, as strings, and NaN and Infinity, as numbers. Functions
 * give NCJ_OK or NCJ_ERR.
 */
#ifndef NETCDF_JSON_H
#define NETCDF_JSON_H 1

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NCJ_OK 0
#define NCJ_ERR (-1)

/* What a value is. */
#define NCJ_UNDEF 0
#define NCJ_STRING 1
#define NCJ_INT 2
#define NCJ_DOUBLE 3
#define NCJ_BOOLEAN 4
#define NCJ_DICT 5
#define NCJ_ARRAY 6
#define NCJ_NULL 7
#define NCJ_NSORTS 8

/* Flags of the writer; both write the same text. */
#define NCJFLAG_NONE 0
#define NCJFLAG_INDENTED 1

/* How deep arrays and dicts may lie in one another. */
#define NCJ_MAX_DEPTH 512

typedef struct NCjson {
    int sort;     /* NCJ_STRING and so on */
    char *string; /* of all but arrays, dicts and null */
    struct NCjlist {
        size_t alloc;
        size_t len;
        struct NCjson **contents;
    } list; /* of arrays and dicts */
} NCjson;

/* What NCJcvt gives; the one that was asked for is set. */
struct NCJconst {
    int bval;
    long long ival;
    double dval;
    char *sval; /* from malloc */
};

#define NCJsort(x) ((x) == NULL ? NCJ_UNDEF : (x)->sort)
#define NCJstring(x) ((x) == NULL ? (char *)(x) : (x)->string)
#define NCJarraylength(x) ((x) == NULL ? 0 : (x)->list.len)
#define NCJdictlength(x) ((x) == NULL ? 0 : (x)->list.len / 2)
#define NCJcontents(x) ((x) == NULL ? (struct NCjson **)(x) : (x)->list.contents)
#define NCJith(x, i) ((x)->list.contents[i])
#define NCJdictkey(x, i) ((x)->list.contents[(i) * 2])
#define NCJdictvalue(x, i) ((x)->list.contents[((i) * 2) + 1])

#define NCJsetsort(x, s) (x)->sort = (s)
#define NCJsetstring(x, y) (x)->string = (y)
#define NCJsetcontents(x, c) (x)->list.contents = (c)
#define NCJsetarraylength(x, l) (x)->list.len = (l)
#define NCJsetdictlength(x, l) (x)->list.len = ((l) * 2)

#define NCJisatomic(j) ((j)->sort >= NCJ_STRING && (j)->sort <= NCJ_BOOLEAN)

/* For functions with a variable `stat` and a label `done`. */
#define NCJcheck(expr) do { if ((expr) < 0) { stat = NCJ_ERR; goto done; } } while (0)

/* ---- Making values ---- */

/* Frees a value and all in it. */
static inline void
NCJreclaim(NCjson *json)
{
    size_t i;
    if (json == NULL) return;
    for (i = 0; i < json->list.len; i++) NCJreclaim(json->list.contents[i]);
    free(json->list.contents);
    free(json->string);
    free(json);
}

/* Makes an empty value. */
static inline int
NCJnew(int sort, NCjson **jsonp)
{
    NCjson *json;
    if (sort <= NCJ_UNDEF || sort >= NCJ_NSORTS) return NCJ_ERR;
    json = (NCjson *)calloc(1, sizeof(NCjson));
    if (json == NULL) return NCJ_ERR;
    json->sort = sort;
    if (jsonp != NULL) *jsonp = json; else NCJreclaim(json);
    return NCJ_OK;
}

/* Makes a value with so many bytes of text. */
static inline int
NCJnewstringn(int sort, size_t len, const char *value, NCjson **jsonp)
{
    NCjson *json = NULL;
    if (jsonp != NULL) *jsonp = NULL;
    if (value == NULL || NCJnew(sort, &json) != NCJ_OK) return NCJ_ERR;
    json->string = (char *)malloc(len + 1);
    if (json->string == NULL) {
        NCJreclaim(json);
        return NCJ_ERR;
    }
    memcpy(json->string, value, len);
    json->string[len] = '\0';
    if (jsonp != NULL) *jsonp = json; else NCJreclaim(json);
    return NCJ_OK;
}

/* Makes a value with a text. */
static inline int
NCJnewstring(int sort, const char *value, NCjson **jsonp)
{
    return NCJnewstringn(sort, value == NULL ? 0 : strlen(value), value, jsonp);
}

/* Puts a value at the end of an array, or key and value one after the other at the end of a dict. It becomes part of
   them only where that works. */
static inline int
NCJappend(NCjson *object, NCjson *value)
{
    struct NCjson **contents;
    size_t alloc;
    if (object == NULL || value == NULL) return NCJ_ERR;
    if (object->sort != NCJ_ARRAY && object->sort != NCJ_DICT) return NCJ_ERR;
    if (object->list.len == object->list.alloc) {
        alloc = object->list.alloc * 2 + 2;
        contents = (struct NCjson **)realloc(object->list.contents, alloc * sizeof(*contents));
        if (contents == NULL) return NCJ_ERR;
        object->list.contents = contents;
        object->list.alloc = alloc;
    }
    object->list.contents[object->list.len++] = value;
    return NCJ_OK;
}

/* Puts a value with a text at the end. */
static inline int
NCJaddstring(NCjson *json, int sort, const char *s)
{
    NCjson *value = NULL;
    if (NCJnewstring(sort, s, &value) != NCJ_OK) return NCJ_ERR;
    if (NCJappend(json, value) == NCJ_OK) return NCJ_OK;
    NCJreclaim(value);
    return NCJ_ERR;
}

/* The same. */
static inline int
NCJappendstring(NCjson *object, int sort, const char *s)
{
    return NCJaddstring(object, sort, s);
}

/* Puts an integer at the end. */
static inline int
NCJappendint(NCjson *object, long long n)
{
    char digits[32];
    snprintf(digits, sizeof(digits), "%lld", n);
    return NCJaddstring(object, NCJ_INT, digits);
}

/* The place of a key's value in a dict, or NULL. */
static inline struct NCjson **
ncj_place(const NCjson *dict, const char *key)
{
    size_t i;
    for (i = 0; i < NCJdictlength(dict); i++) {
        const NCjson *k = NCJdictkey(dict, i);
        if (k != NULL && k->string != NULL && strcmp(k->string, key) == 0) return &NCJdictvalue(dict, i);
    }
    return NULL;
}

/* Sets the value of a key. The value becomes the dict's, and is freed where that fails. */
static inline int
NCJinsert(NCjson *dict, const char *key, NCjson *value)
{
    struct NCjson **place;
    if (NCJsort(dict) != NCJ_DICT || key == NULL || value == NULL) {
        NCJreclaim(value);
        return NCJ_ERR;
    }
    place = ncj_place(dict, key);
    if (place != NULL) {
        NCJreclaim(*place);
        *place = value;
        return NCJ_OK;
    }
    if (NCJaddstring(dict, NCJ_STRING, key) == NCJ_OK) {
        if (NCJappend(dict, value) == NCJ_OK) return NCJ_OK;
        NCJreclaim(dict->list.contents[--dict->list.len]);
    }
    NCJreclaim(value);
    return NCJ_ERR;
}

/* The same. */
static inline int
NCJoverwrite(NCjson *dict, const char *key, NCjson *value)
{
    return NCJinsert(dict, key, value);
}

/* Sets the value of a key to a string. */
static inline int
NCJinsertstring(NCjson *dict, const char *key, const char *value)
{
    NCjson *json = NULL;
    if (NCJnewstring(NCJ_STRING, value, &json) != NCJ_OK) return NCJ_ERR;
    return NCJinsert(dict, key, json);
}

/* Sets the value of a key to an integer. */
static inline int
NCJinsertint(NCjson *dict, const char *key, long long n)
{
    NCjson *json = NULL;
    char digits[32];
    snprintf(digits, sizeof(digits), "%lld", n);
    if (NCJnewstring(NCJ_INT, digits, &json) != NCJ_OK) return NCJ_ERR;
    return NCJinsert(dict, key, json);
}

/* Copies a value and all in it. */
static inline int
NCJclone(const NCjson *json, NCjson **clonep)
{
    NCjson *clone = NULL, *part = NULL;
    size_t i;
    if (clonep != NULL) *clonep = NULL;
    if (json == NULL) return NCJ_OK;
    if ((json->string == NULL ? NCJnew(json->sort, &clone) : NCJnewstring(json->sort, json->string, &clone)) != NCJ_OK)
        return NCJ_ERR;
    for (i = 0; i < json->list.len; i++) {
        if (NCJclone(json->list.contents[i], &part) != NCJ_OK || NCJappend(clone, part) != NCJ_OK) {
            NCJreclaim(part);
            NCJreclaim(clone);
            return NCJ_ERR;
        }
    }
    if (clonep != NULL) *clonep = clone; else NCJreclaim(clone);
    return NCJ_OK;
}

/* ---- Asking ---- */

/* The value of a key, which stays the dict's; NULL, and no error, where there is none. */
static inline int
NCJdictget(const NCjson *dict, const char *key, const NCjson **valuep)
{
    struct NCjson **place;
    if (NCJsort(dict) != NCJ_DICT || key == NULL) return NCJ_ERR;
    place = ncj_place(dict, key);
    if (valuep != NULL) *valuep = place == NULL ? NULL : *place;
    return NCJ_OK;
}

/* The same, as the function's value. */
static inline NCjson *
NCJdictlookup(const NCjson *dict, const char *key)
{
    struct NCjson **place;
    if (NCJsort(dict) != NCJ_DICT || key == NULL) return NULL;
    place = ncj_place(dict, key);
    return place == NULL ? NULL : *place;
}

/* Whether a text is a word, in small letters, in any mix of cases. */
static inline int
ncj_is(const char *text, const char *word)
{
    for (; *text != '\0' && *word != '\0'; text++, word++)
        if (*text != *word && !(*text >= 'A' && *text <= 'Z' && *text - 'A' + 'a' == *word)) return 0;
    return *text == *word;
}

/* Turns a number, boolean or string into one of the four kinds. */
static inline int
NCJcvt(const NCjson *value, int outsort, struct NCJconst *output)
{
    if (output == NULL) return NCJ_OK;
    if (value == NULL || !NCJisatomic(value) || value->string == NULL) return NCJ_ERR;
    switch (outsort) {
    case NCJ_STRING:
        output->sval = (char *)malloc(strlen(value->string) + 1);
        if (output->sval == NULL) return NCJ_ERR;
        memcpy(output->sval, value->string, strlen(value->string) + 1);
        return NCJ_OK;
    case NCJ_INT:
        if (value->sort == NCJ_BOOLEAN) output->ival = !ncj_is(value->string, "false");
        else if (value->sort == NCJ_DOUBLE) output->ival = (long long)strtod(value->string, NULL);
        else output->ival = strtoll(value->string, NULL, 10);
        return NCJ_OK;
    case NCJ_DOUBLE:
        if (value->sort == NCJ_BOOLEAN) output->dval = !ncj_is(value->string, "false");
        else output->dval = strtod(value->string, NULL);
        return NCJ_OK;
    case NCJ_BOOLEAN:
        if (value->sort == NCJ_INT || value->sort == NCJ_DOUBLE) output->bval = strtod(value->string, NULL) != 0.0;
        else output->bval = !ncj_is(value->string, "false");
        return NCJ_OK;
    default:
        return NCJ_ERR;
    }
}

static inline int
ncj_compare(const void *a, const void *b)
{
    const NCjson *const *left = (const NCjson *const *)a;
    const NCjson *const *right = (const NCjson *const *)b;
    return strcmp((*left)->string, (*right)->string);
}

/* Sorts a dict by its keys. */
static inline void
NCJdictsort(NCjson *dict)
{
    if (NCJsort(dict) == NCJ_DICT && NCJdictlength(dict) > 0)
        qsort((void *)dict->list.contents, NCJdictlength(dict), 2 * sizeof(NCjson *), ncj_compare);
}

/* ---- Reading ---- */

/* What is still to be read. */
struct ncj_text {
    const char *at;
    const char *end;
};

static inline int ncj_value(struct ncj_text *text, int depth, NCjson **jsonp);

/* The next byte that is not space, or 0 at the end. */
static inline char
ncj_peek(struct ncj_text *text)
{
    while (text->at < text->end && ((unsigned char)*text->at <= ' ' || *text->at == '\177')) text->at++;
    return text->at < text->end ? *text->at : '\0';
}

/* Reads the four digits of \u; -1 where there are none. */
static inline long
ncj_hex4(struct ncj_text *text)
{
    char digits[5];
    int i;
    if (text->end - text->at < 4) return -1;
    for (i = 0; i < 4; i++) {
        char c = text->at[i];
        if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'))) return -1;
        digits[i] = c;
    }
    digits[4] = '\0';
    text->at += 4;
    return strtol(digits, NULL, 16);
}

/* Reads what follows \u, a pair of surrogates included, and writes it as UTF-8. */
static inline char *
ncj_unicode(struct ncj_text *text, char *out)
{
    long code = ncj_hex4(text), low;
    struct ncj_text ahead = *text;
    if (code < 0) return NULL;
    if (code >= 0xD800 && code < 0xDC00 && ahead.end - ahead.at > 2 && ahead.at[0] == '\\' && ahead.at[1] == 'u') {
        ahead.at += 2;
        low = ncj_hex4(&ahead);
        if (low >= 0xDC00 && low < 0xE000) {
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            *text = ahead;
        }
    }
    if (code < 0x80) {
        *out++ = (char)code;
        return out;
    }
    if (code < 0x800) {
        *out++ = (char)(0xC0 | (code >> 6));
    } else {
        if (code < 0x10000) {
            *out++ = (char)(0xE0 | (code >> 12));
        } else {
            *out++ = (char)(0xF0 | (code >> 18));
            *out++ = (char)(0x80 | ((code >> 12) & 0x3F));
        }
        *out++ = (char)(0x80 | ((code >> 6) & 0x3F));
    }
    *out++ = (char)(0x80 | (code & 0x3F));
    return out;
}

/* Reads a string; `at` is behind its first quote. Text never grows as escapes are resolved. */
static inline int
ncj_string(struct ncj_text *text, NCjson **jsonp)
{
    struct ncj_text inside;
    char *out;
    inside.at = inside.end = text->at;
    while (inside.end < text->end && *inside.end != '"') inside.end += *inside.end == '\\' ? 2 : 1;
    if (inside.end >= text->end) return NCJ_ERR;
    text->at = inside.end + 1;
    if (NCJnewstringn(NCJ_STRING, (size_t)(inside.end - inside.at), inside.at, jsonp) != NCJ_OK) return NCJ_ERR;
    out = (*jsonp)->string;
    while (inside.at < inside.end && out != NULL) {
        char c = *inside.at++;
        if (c == '\\') {
            c = *inside.at++;
            switch (c) {
            case 'b': c = '\b'; break;
            case 'f': c = '\f'; break;
            case 'n': c = '\n'; break;
            case 'r': c = '\r'; break;
            case 't': c = '\t'; break;
            case 'u': out = ncj_unicode(&inside, out); continue;
            default: break;
            }
        }
        *out++ = c;
    }
    if (out != NULL) {
        *out = '\0';
        return NCJ_OK;
    }
    NCJreclaim(*jsonp);
    *jsonp = NULL;
    return NCJ_ERR;
}

/* What a word without quotes is. */
static inline int
ncj_sort(const char *word)
{
    const char *digits = word + (*word == '-' || *word == '+');
    char *end;
    if (ncj_is(word, "true") || ncj_is(word, "false")) return NCJ_BOOLEAN;
    if (ncj_is(word, "null")) return NCJ_NULL;
    if (*digits != '\0' && strspn(digits, "0123456789") == strlen(digits)) return NCJ_INT;
    if (ncj_is(digits, "nan") || ncj_is(digits, "nanf")) return NCJ_DOUBLE;
    if (ncj_is(digits, "infinity") || ncj_is(digits, "infinityf")) return NCJ_DOUBLE;
    (void)strtod(word, &end);
    return *end == '\0' && strpbrk(digits, "0123456789") != NULL ? NCJ_DOUBLE : NCJ_STRING;
}

/* Reads a word without quotes. */
static inline int
ncj_word(struct ncj_text *text, NCjson **jsonp)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$+-.";
    const char *start = text->at;
    while (text->at < text->end && *text->at != '\0' && strchr(letters, *text->at) != NULL) text->at++;
    if (text->at == start) return NCJ_ERR;
    if (NCJnewstringn(NCJ_STRING, (size_t)(text->at - start), start, jsonp) != NCJ_OK) return NCJ_ERR;
    (*jsonp)->sort = ncj_sort((*jsonp)->string);
    if ((*jsonp)->sort == NCJ_NULL) {
        free((*jsonp)->string);
        (*jsonp)->string = NULL;
    }
    return NCJ_OK;
}

/* Reads what an array or dict holds; `at` is behind its bracket. A comma may stand before the closing one. */
static inline int
ncj_list(struct ncj_text *text, int depth, NCjson *list)
{
    char close = list->sort == NCJ_DICT ? '}' : ']';
    NCjson *part = NULL;
    char c;
    while ((c = ncj_peek(text)) != close) {
        if (list->sort == NCJ_DICT) {
            /* A key is a string or a word; what kind of word does not matter, but it has a text. */
            if (ncj_value(text, NCJ_MAX_DEPTH, &part) != NCJ_OK) return NCJ_ERR;
            if (part->string == NULL || NCJappend(list, part) != NCJ_OK) {
                NCJreclaim(part);
                return NCJ_ERR;
            }
            if (ncj_peek(text) != ':') return NCJ_ERR;
            text->at++;
        }
        if (ncj_value(text, depth + 1, &part) != NCJ_OK) return NCJ_ERR;
        if (NCJappend(list, part) != NCJ_OK) {
            NCJreclaim(part);
            return NCJ_ERR;
        }
        c = ncj_peek(text);
        if (c != ',' && c != close) return NCJ_ERR;
        if (c == ',') text->at++;
    }
    text->at++;
    return NCJ_OK;
}

/* Reads a value. At the greatest depth only those without parts are read. */
static inline int
ncj_value(struct ncj_text *text, int depth, NCjson **jsonp)
{
    char c = ncj_peek(text);
    *jsonp = NULL;
    if (c == '"') {
        text->at++;
        return ncj_string(text, jsonp);
    }
    if (c != '{' && c != '[') return ncj_word(text, jsonp);
    if (depth >= NCJ_MAX_DEPTH) return NCJ_ERR;
    text->at++;
    if (NCJnew(c == '{' ? NCJ_DICT : NCJ_ARRAY, jsonp) != NCJ_OK) return NCJ_ERR;
    if (ncj_list(text, depth, *jsonp) == NCJ_OK) return NCJ_OK;
    NCJreclaim(*jsonp);
    *jsonp = NULL;
    return NCJ_ERR;
}

/* Reads so many bytes, which must be one value. */
static inline int
NCJparsen(size_t len, const char *text, unsigned flags, NCjson **jsonp)
{
    struct ncj_text rest;
    NCjson *json = NULL;
    (void)flags;
    if (text == NULL) return NCJ_ERR;
    rest.at = text;
    rest.end = text + len;
    if (ncj_value(&rest, 0, &json) != NCJ_OK) return NCJ_ERR;
    if (ncj_peek(&rest) != '\0' || rest.at != rest.end || jsonp == NULL) {
        NCJreclaim(json);
        return NCJ_ERR;
    }
    *jsonp = json;
    return NCJ_OK;
}

/* Reads a text, which must be one value. */
static inline int
NCJparse(const char *text, unsigned flags, NCjson **jsonp)
{
    return NCJparsen(text == NULL ? 0 : strlen(text), text, flags, jsonp);
}

/* ---- Writing ---- */

/* A text that grows; NULL once memory has run out. */
struct ncj_out {
    char *text;
    size_t len;
    size_t alloc;
};

static inline void
ncj_put(struct ncj_out *out, const char *bytes, size_t len)
{
    if (out->text == NULL) return;
    if (out->alloc - out->len <= len) {
        char *text = (char *)realloc(out->text, (out->alloc + len) * 2);
        if (text == NULL) free(out->text);
        out->text = text;
        out->alloc = (out->alloc + len) * 2;
        if (text == NULL) return;
    }
    memcpy(out->text + out->len, bytes, len);
    out->len += len;
    out->text[out->len] = '\0';
}

static inline void
ncj_puts(struct ncj_out *out, const char *text)
{
    if (text != NULL) ncj_put(out, text, strlen(text));
}

static inline void
ncj_quote(struct ncj_out *out, const char *text)
{
    static const char from[] = "\b\f\n\r\t\"\\";
    static const char to[] = "bfnrt\"\\";
    ncj_puts(out, "\"");
    for (; text != NULL && *text != '\0'; text++) {
        const char *hit = strchr(from, *text);
        if (hit == NULL) {
            ncj_put(out, text, 1);
        } else {
            ncj_put(out, "\\", 1);
            ncj_put(out, &to[hit - from], 1);
        }
    }
    ncj_puts(out, "\"");
}

static inline int
ncj_write(struct ncj_out *out, const NCjson *json)
{
    size_t i;
    switch (NCJsort(json)) {
    case NCJ_STRING:
        ncj_quote(out, json->string);
        return NCJ_OK;
    case NCJ_INT:
    case NCJ_DOUBLE:
    case NCJ_BOOLEAN:
        ncj_puts(out, json->string);
        return NCJ_OK;
    case NCJ_NULL:
        ncj_puts(out, "null");
        return NCJ_OK;
    case NCJ_ARRAY:
        ncj_puts(out, "[");
        for (i = 0; i < json->list.len; i++) {
            if (i > 0) ncj_puts(out, ",");
            if (ncj_write(out, json->list.contents[i]) != NCJ_OK) return NCJ_ERR;
        }
        ncj_puts(out, "]");
        return NCJ_OK;
    case NCJ_DICT:
        ncj_puts(out, "{");
        for (i = 0; i < NCJdictlength(json); i++) {
            if (i > 0) ncj_puts(out, ", ");
            if (ncj_write(out, NCJdictkey(json, i)) != NCJ_OK) return NCJ_ERR;
            ncj_puts(out, ": ");
            if (ncj_write(out, NCJdictvalue(json, i)) != NCJ_OK) return NCJ_ERR;
        }
        ncj_puts(out, "}");
        return NCJ_OK;
    default:
        return NCJ_ERR;
    }
}

/* Writes a value as a text that the caller frees. */
static inline int
NCJunparse(const NCjson *json, unsigned flags, char **textp)
{
    struct ncj_out out;
    int stat;
    (void)flags;
    out.alloc = 64;
    out.len = 0;
    out.text = (char *)calloc(out.alloc, 1);
    stat = ncj_write(&out, json);
    if (out.text == NULL) return NCJ_ERR;
    if (stat == NCJ_OK && textp != NULL) *textp = out.text; else free(out.text);
    return stat;
}

/* Writes a value into memory that the next call uses again; what passes its end is cut off. */
static inline const char *
NCJtotext(const NCjson *json, unsigned flags)
{
    static char kept[4096];
    char *text = NULL;
    if (json == NULL || NCJunparse(json, flags, &text) != NCJ_OK) return "<null>";
    snprintf(kept, sizeof(kept), "%s", text);
    free(text);
    return kept;
}

/* Prints a value and a line end; to stderr, where no file is given. */
static inline void
NCJdump(const NCjson *json, unsigned flags, FILE *file)
{
    char *text = NULL;
    if (file == NULL) file = stderr;
    fprintf(file, "%s\n", NCJunparse(json, flags, &text) == NCJ_OK ? text : "<null>");
    fflush(file);
    free(text);
}

#endif /* NETCDF_JSON_H */

/*
 * A list and a text that grow, whole in this header, for code that cannot link the library.
 *
 * Functions on a VList take NULL for an empty list. What a caller breaks, or memory that runs out, ends in assert.
 */
#ifndef NCVUTILS_H
#define NCVUTILS_H 1

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Pointers that belong to the caller. */
typedef struct VList {
    size_t alloc;
    size_t length;
    void **content;
} VList;

/* Bytes, with a zero behind the last one unless they are borrowed. */
typedef struct VString {
    int nonextendible; /* the bytes are borrowed, and there is no room for more */
    size_t alloc;      /* without the zero */
    size_t length;
    char *content;
} VString;

/* How much a VString grows at a time, at least. */
#define VSTRALLOC 64

#if defined(__cplusplus)
#define EXTERNC extern "C"
#else
#define EXTERNC extern
#endif

#define vlistcontents(l) ((l) == NULL ? NULL : (l)->content)
#define vlistlength(l) ((l) == NULL ? 0 : (l)->length)
#define vlistsetlength(l, len) do { if ((l) != NULL) (l)->length = (len); } while (0)
#define vlistclear(l) vlistsetlength(l, 0)

#define vscontents(vs) ((vs) == NULL ? NULL : (vs)->content)
#define vslength(vs) ((vs) == NULL ? 0 : (vs)->length)
#define vscat(vs, s) vsappendn(vs, s, 0)
#define vsclear(vs) vssetlength(vs, 0)
#define vsnulterm(vs) do { vssetalloc(vs, (vs)->length); (vs)->content[(vs)->length] = '\0'; } while (0)

/* ---- Lists ---- */

static inline VList *
vlistnew(void)
{
    VList *l = (VList *)calloc(1, sizeof(VList));
    assert(l != NULL);
    return l;
}

static inline void
vlistfree(VList *l)
{
    if (l == NULL) return;
    free(l->content);
    free(l);
}

/* Makes room for about as many again. */
static inline void
vlistexpand(VList *l)
{
    if (l == NULL) return;
    l->alloc = l->alloc * 2 + 1;
    l->content = (void **)realloc(l->content, l->alloc * sizeof(void *));
    assert(l->content != NULL);
}

static inline void *
vlistget(VList *l, size_t index)
{
    if (vlistlength(l) == 0) return NULL;
    assert(index < l->length);
    return l->content[index];
}

/* Puts an element before the one at pos; pos may be the length. */
static inline void
vlistinsert(VList *l, size_t pos, void *elem)
{
    assert(l != NULL && pos <= l->length);
    if (l->length == l->alloc) vlistexpand(l);
    memmove(l->content + pos + 1, l->content + pos, (l->length - pos) * sizeof(void *));
    l->content[pos] = elem;
    l->length++;
}

static inline void
vlistpush(VList *l, void *elem)
{
    if (l != NULL) vlistinsert(l, l->length, elem);
}

/* Takes an element out. */
static inline void *
vlistremove(VList *l, size_t pos)
{
    void *elem;
    assert(l != NULL && pos < l->length);
    elem = l->content[pos];
    l->length--;
    memmove(l->content + pos, l->content + pos + 1, (l->length - pos) * sizeof(void *));
    return elem;
}

/* Takes the first element out. */
static inline void *
vlistfirst(VList *l)
{
    return vlistlength(l) == 0 ? NULL : vlistremove(l, 0);
}

/* Frees the list and, with free(), its elements. */
static inline void
vlistfreeall(VList *l)
{
    size_t i;
    for (i = 0; i < vlistlength(l); i++) free(l->content[i]);
    vlistfree(l);
}

/* ---- Texts ---- */

static inline VString *
vsnew(void)
{
    VString *vs = (VString *)calloc(1, sizeof(VString));
    assert(vs != NULL);
    return vs;
}

/* Frees a text, and its bytes unless they are borrowed. */
static inline void
vsfree(VString *vs)
{
    if (vs == NULL) return;
    if (!vs->nonextendible) free(vs->content);
    free(vs);
}

/* Makes room for at least so many bytes and a zero. */
static inline void
vssetalloc(VString *vs, size_t newalloc)
{
    assert(vs != NULL);
    if (vs->content != NULL && vs->alloc >= newalloc) return;
    assert(!vs->nonextendible);
    if (newalloc < vs->alloc + VSTRALLOC) newalloc = vs->alloc + VSTRALLOC;
    vs->content = (char *)realloc(vs->content, newalloc + 1);
    assert(vs->content != NULL);
    vs->content[vs->length] = '\0';
    vs->alloc = newalloc;
}

static inline void
vsexpand(VString *vs)
{
    if (vs != NULL) vssetalloc(vs, vs->alloc + VSTRALLOC);
}

/* Cuts the text, or makes it longer with zeros. */
static inline void
vssetlength(VString *vs, size_t newlen)
{
    assert(vs != NULL);
    if (newlen > vs->length) {
        vssetalloc(vs, newlen);
        memset(vs->content + vs->length, 0, newlen - vs->length);
    }
    vs->length = newlen;
    if (!vs->nonextendible) vsnulterm(vs);
}

/* Puts n bytes in before pos, a whole text where n is 0. Where pos is past the end, zeros come between. */
static inline void
vsinsertn(VString *vs, size_t pos, const void *s, size_t slen)
{
    size_t behind;
    assert(vs != NULL && s != NULL);
    if (slen == 0) slen = strlen((const char *)s);
    if (pos > vs->length) vssetlength(vs, pos);
    behind = vs->length - pos;
    vssetlength(vs, vs->length + slen);
    memmove(vs->content + pos + slen, vs->content + pos, behind);
    memcpy(vs->content + pos, s, slen);
}

/* Puts n bytes at the end, a whole text where n is 0. */
static inline void
vsappendn(VString *vs, const char *elem, size_t n)
{
    vsinsertn(vs, vslength(vs), elem, n);
}

static inline void
vsappend(VString *vs, const char elem)
{
    vsappendn(vs, &elem, 1);
}

/* Takes out so many bytes from pos on, as far as there are any. */
static inline void
vsremoven(VString *vs, size_t pos, size_t elide)
{
    assert(vs != NULL);
    if (pos >= vs->length) return;
    if (elide > vs->length - pos) elide = vs->length - pos;
    memmove(vs->content + pos, vs->content + pos + elide, vs->length - pos - elide);
    vssetlength(vs, vs->length - elide);
}

/* Borrows bytes in place of those that are there. */
static inline void
vssetcontents(VString *vs, char *contents, size_t length)
{
    assert(vs != NULL && contents != NULL);
    if (!vs->nonextendible) free(vs->content);
    vs->nonextendible = 1;
    vs->content = contents;
    vs->alloc = vs->length = length;
}

/* Hands over the bytes, never NULL, and leaves the text empty. */
static inline char *
vsextract(VString *vs)
{
    char *content;
    if (vs == NULL) return NULL;
    if (vs->content == NULL) vsnulterm(vs);
    content = vs->content;
    vs->content = NULL;
    vs->alloc = vs->length = 0;
    return content;
}

/* Where a byte is. */
static inline char *
vsgetp(VString *vs, size_t index)
{
    assert(vs != NULL && index <= vs->length);
    return vs->content + index;
}

/* Copies a text; the bytes of the copy are its own. */
static inline VString *
vsclone(VString *vs)
{
    VString *clone = vsnew();
    assert(vs != NULL);
    if (vs->length > 0) vsappendn(clone, vs->content, vs->length);
    return clone;
}

#endif /* NCVUTILS_H */

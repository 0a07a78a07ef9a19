/*
 * netcdf_vutils.h: lists and texts are filled, cut and taken apart. Assertions judge.
 */
#include <netcdf_vutils.h>
#include <stdio.h>

static void lists(void)
{
    int values[100];
    size_t i;
    VList *l = vlistnew();
    assert(vlistlength(l) == 0 && vlistget(l, 0) == NULL && vlistfirst(l) == NULL);
    for (i = 0; i < 100; i++) vlistpush(l, &values[i]);
    assert(vlistlength(l) == 100);
    for (i = 0; i < 100; i++) assert(vlistget(l, i) == &values[i]);
    assert(vlistremove(l, 50) == &values[50] && vlistlength(l) == 99 && vlistget(l, 50) == &values[51]);
    vlistinsert(l, 50, &values[50]);
    assert(vlistlength(l) == 100 && vlistget(l, 50) == &values[50] && vlistget(l, 51) == &values[51]);
    assert(vlistfirst(l) == &values[0] && vlistget(l, 98) == &values[99]);
    vlistclear(l);
    assert(vlistlength(l) == 0);
    vlistfree(l);

    l = vlistnew();
    for (i = 0; i < 10; i++) vlistpush(l, malloc(10));
    vlistfreeall(l);
    vlistfree(NULL);
}

static int is(const VString *vs, const char *text)
{
    return vslength(vs) == strlen(text) && strcmp(vs->content, text) == 0;
}

static void texts(void)
{
    char borrowed[] = "borrowed";
    VString *vs = vsnew(), *clone;
    char *content;
    int i;
    assert(vslength(vs) == 0 && vscontents(vs) == NULL);
    for (i = 0; i < 100; i++) vscat(vs, "abc");
    assert(vslength(vs) == 300 && strlen(vs->content) == 300);
    vssetlength(vs, 3);
    vsappend(vs, 'd');
    vsappendn(vs, "efgh", 2);
    assert(is(vs, "abcdef"));
    vsinsertn(vs, 3, "--", 0);
    assert(is(vs, "abc--def"));
    vsinsertn(vs, 10, "!", 1);
    assert(vslength(vs) == 11 && memcmp(vs->content, "abc--def\0\0!", 12) == 0);
    vsremoven(vs, 8, 100);
    vsremoven(vs, 3, 2);
    vsremoven(vs, 100, 1);
    assert(is(vs, "abcdef") && *vsgetp(vs, 5) == 'f');
    clone = vsclone(vs);
    content = vsextract(vs);
    assert(strcmp(content, "abcdef") == 0 && vslength(vs) == 0);
    free(content);
    content = vsextract(vs);
    assert(strcmp(content, "") == 0);
    free(content);
    vscat(vs, "again");
    assert(is(vs, "again"));
    vsfree(vs);
    assert(is(clone, "abcdef"));
    vssetcontents(clone, borrowed, 8);
    vssetlength(clone, 3);
    assert(vscontents(clone) == borrowed && vslength(clone) == 3);
    vsfree(clone);
    vsfree(NULL);
}

int main(void)
{
    lists();
    texts();
    printf("done\n");
    return 0;
}

/*
 * netcdf_json.h: reads each line of its input as JSON, and prints its parts, what each turns into, and the text written
 * back. Then it builds values by hand.
 */
#include <netcdf_json.h>

static void show(const NCjson *json, int depth)
{
    struct NCJconst as;
    size_t i;
    printf("%*s%d", depth * 2, "", NCJsort(json));
    if (NCJisatomic(json)) {
        printf(" \"%s\"", NCJstring(json));
        memset(&as, 0, sizeof(as));
        if (NCJcvt(json, NCJ_BOOLEAN, &as) == NCJ_OK) printf(" %d", as.bval);
        if (NCJcvt(json, NCJ_INT, &as) == NCJ_OK) printf(" %lld", as.ival);
        if (NCJcvt(json, NCJ_DOUBLE, &as) == NCJ_OK) printf(" %g", as.dval);
        if (NCJcvt(json, NCJ_STRING, &as) == NCJ_OK) printf(" \"%s\"", as.sval);
        free(as.sval);
    }
    printf("\n");
    if (NCJsort(json) == NCJ_ARRAY || NCJsort(json) == NCJ_DICT)
        for (i = 0; i < NCJarraylength(json); i++) show(NCJith(json, i), depth + 1);
}

static void written(const NCjson *json)
{
    char *text = NULL;
    printf("%d ", NCJunparse(json, NCJFLAG_NONE, &text));
    printf("%s\n", text == NULL ? "nothing" : text);
    free(text);
}

static void read_lines(void)
{
    char line[4096];
    while (fgets(line, sizeof(line), stdin) != NULL) {
        NCjson *json = NULL, *clone = NULL;
        int code;
        line[strcspn(line, "\n")] = '\0';
        code = NCJparse(line, 0, &json);
        printf("> %s\n%d\n", line, code);
        if (code != NCJ_OK || json == NULL) continue;
        show(json, 0);
        if (NCJclone(json, &clone) != NCJ_OK) exit(1);
        NCJreclaim(json);
        written(clone);
        NCJreclaim(clone);
    }
}

static void build(void)
{
    NCjson *dict = NULL, *array = NULL;
    const NCjson *found = NULL;
    printf("> built\n");
    if (NCJnew(NCJ_DICT, &dict) != NCJ_OK || NCJnew(NCJ_ARRAY, &array) != NCJ_OK) exit(1);
    printf("%d %d\n", NCJnew(NCJ_UNDEF, NULL), NCJnew(NCJ_NSORTS, NULL));
    printf("%d %d\n", NCJaddstring(array, NCJ_STRING, "a\tb"), NCJaddstring(array, NCJ_DOUBLE, "1.5"));
    printf("%d %d\n", NCJappendstring(array, NCJ_BOOLEAN, "true"), NCJappendint(array, -7));
    printf("%d\n", NCJinsertstring(dict, "id", "zstd"));
    printf("%d\n", NCJinsertint(dict, "clevel", 5));
    printf("%d\n", NCJinsert(dict, "args", array));
    written(dict);
    array = NULL;
    if (NCJnewstring(NCJ_INT, "6", &array) != NCJ_OK) exit(1);
    printf("%d\n", NCJinsert(dict, "clevel", array));
    printf("%d\n", NCJdictget(dict, "clevel", &found));
    show(found, 0);
    printf("%d\n", NCJdictget(dict, "none", &found));
    printf("%d %d\n", found == NULL, NCJdictlookup(dict, "id") == NCJdictvalue(dict, 0));
    NCJdictsort(dict);
    written(dict);
    NCJdump(dict, NCJFLAG_NONE, stdout);
    printf("%s\n", NCJtotext(dict, NCJFLAG_NONE));
    NCJreclaim(dict);
}

int main(void)
{
    read_lines();
    build();
    return 0;
}

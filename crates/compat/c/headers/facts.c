/*
 * Prints values, types and layouts that headers give. The test writes the two files that this one includes: subject.h
 * includes the headers, names.inc has a VALUE, SIZE or FIELD for each name.
 */
#include <stddef.h>
#include <stdio.h>
#include "subject.h"

static void show_integer(long long value) { printf("%lld", value); }
static void show_real(double value) { printf("%a", value); }
static void show_text(const char *value) { printf("\"%s\"", value); }

#define TYPE(x) _Generic((x), \
    char: "char", signed char: "signed char", short: "short", int: "int", unsigned: "unsigned", long: "long", \
    unsigned long: "unsigned long", long long: "long long", unsigned long long: "unsigned long long", \
    float: "float", double: "double", char *: "text", const char *: "text", default: "other")

#define SHOW(x) _Generic((x), \
    float: show_real, double: show_real, char *: show_text, const char *: show_text, default: show_integer)(x)

#define VALUE(name) printf("%s\tvalue %s ", #name, TYPE(name)); SHOW(name); printf("\n");
#define SIZE(type) printf("%s\tsize %zu\n", #type, sizeof(type));
#define FIELD(type, field) \
    printf("%s.%s\tfield at %zu, %zu bytes\n", #type, #field, offsetof(type, field), sizeof(((type *)0)->field));

int main(void)
{
#include "names.inc"
    return 0;
}

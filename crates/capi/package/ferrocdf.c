/* The programs ncdump, ncgen, ncgen3, nccopy and ferrocdf, which are one: the name by which it is called tells which.
   Their code is in the library, which shares most of it with them. */

#include <signal.h>

int ferrocdf_main(int argc, char **argv);

int main(int argc, char **argv) {
    /* Output that nobody reads any more is an error of writing, which the programs handle. */
    signal(SIGPIPE, SIG_IGN);
    return ferrocdf_main(argc, argv);
}

/* addr2line.c - in the place of a program of the binutils that Debian does not have for Windows: prints the address in
 * question as a line, "at.c:5368714393", so that the test can ask this machine's own addr2line about the same address.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc != 4 || strcmp(argv[1], "-e") != 0 || strncmp(argv[3], "0x", 2) != 0)
        return 1;
    FILE *file = fopen(argv[2], "rb");
    if (file == NULL)
        return 1;
    fclose(file);
    printf("at.c:%llu\n", strtoull(argv[3], NULL, 16));
    return 0;
}

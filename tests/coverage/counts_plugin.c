/* counts_plugin.c - linked into plugins that are built with COVERAGE=1: writes the counts of the library that it is
   part of. */
void __gcov_dump(void);
void write_counts(void);

__attribute__((visibility("default"))) void write_counts(void)
{
    __gcov_dump();
}

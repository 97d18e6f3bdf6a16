/* counts_plugin.c - linked into plugins that are built with COVERAGE=1: writes the counts of the library that it is
   part of. What ends a job of several processes by MPI_Abort writes them first: that call ends this process too, by no
   function of the program. The linker (--wrap) leads it here. */
void __gcov_dump(void);
void write_counts(void);
/* A plugin without MPI does not have it. A communicator is an address or a number. */
int __real_MPI_Abort(void *communicator, int status) __attribute__((weak, visibility("default")));
int __wrap_MPI_Abort(void *communicator, int status);

__attribute__((visibility("default"))) void write_counts(void)
{
    __gcov_dump();
}

int __wrap_MPI_Abort(void *communicator, int status)
{
    __gcov_dump();
    return __real_MPI_Abort(communicator, status);
}

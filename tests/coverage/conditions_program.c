/* conditions_program.c - linked into programs that are built with CONDITIONS=1: what ends by _exit or _Exit writes its
 * counts first, as counts_program.c does for gcov's. Only the library is counted in such a build, no plugin.
 */
int __llvm_profile_write_file(void);
_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
_Noreturn void __wrap__Exit(int status);

_Noreturn void __wrap__exit(int status)
{
    __llvm_profile_write_file();
    __real__exit(status);
}

_Noreturn void __wrap__Exit(int status)
{
    __wrap__exit(status);
}

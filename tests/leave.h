/* leave.h - how processes with AddressSanitizer end (leave.c). */
#ifndef TESTS_LEAVE_H
#define TESTS_LEAVE_H

/* The process at work is about to fork one for each test, and ends as any other program does. [main] */
void leave_tests_quickly(void);

#endif

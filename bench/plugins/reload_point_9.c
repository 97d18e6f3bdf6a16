/* reload_point_9.c - see reload_point.h. */
#define POINT 9
#include "reload_point.h"

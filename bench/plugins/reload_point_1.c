/* reload_point_1.c - see reload_point.h. */
#define POINT 1
#include "reload_point.h"

/* reload_point_2.c - see reload_point.h. */
#define POINT 2
#include "reload_point.h"

/* reload_point_3.c - see reload_point.h. */
#define POINT 3
#include "reload_point.h"

/* reload_point_6.c - see reload_point.h. */
#define POINT 6
#include "reload_point.h"

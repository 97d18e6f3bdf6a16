/* reload_point_8.c - see reload_point.h. */
#define POINT 8
#include "reload_point.h"

/* reload_point_10.c - see reload_point.h. */
#define POINT 10
#include "reload_point.h"

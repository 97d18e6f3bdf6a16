/* reload_point_5.c - see reload_point.h. */
#define POINT 5
#include "reload_point.h"

/* One of the objects of mixed_test: torture threads built with the switches this file is compiled with, under
 * the name PART. */
#include "torture.h"

void *PART(void *torturer);

void *PART(void *torturer)
{
    return torture_thread(torturer);
}

/* Between the parts of the harness: what clearing up a test calls. */
#ifndef PAWL_TESTS_BALANCER_HARNESS_PRIVATE_H
#define PAWL_TESTS_BALANCER_HARNESS_PRIVATE_H

void client_close_all(void);
void load_end_all(void);

#endif

/* Lines to keywords: what config.c drives. */
#ifndef PAWL_BALANCER_CONFIG_PARSE_H
#define PAWL_BALANCER_CONFIG_PARSE_H

#include "balancer/config/keywords.h"

/* Parses one file's text into p->cfg; file is owned by the model. Stops when p has enough errors or no
 * memory. */
void cfg_parse(struct cfg_parser *p, const char *file, const char *text, size_t len);

#endif

/* What the parts of balance/ share: taking a slot, and the turn of the round robin. Not for other folders. */
#ifndef PAWL_BALANCE_SLOT_H
#define PAWL_BALANCE_SLOT_H

#include "balance/balance.h"

/* Takes a slot of s if it has a free one. */
bool bal_slot_try(struct bal_server *s);

/* Takes a slot of the server whose turn it is, or the next one that has any; never of `avoid`. NULL: all are
 * full. */
struct bal_server *bal_round_robin(struct bal_backend *b, const struct bal_server *avoid);

#endif

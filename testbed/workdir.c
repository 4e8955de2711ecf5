/* The private directory of a run. */
#include "testbed/workdir.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int tb_workdir_make(struct tb_workdir *w, struct tb_error *err)
{
    const char *parent = getenv("TMPDIR");
    int n;

    if (!parent || parent[0] != '/') {
        parent = "/tmp";
    }
    n = snprintf(w->path, sizeof w->path, "%s/pawl-testbed-XXXXXX", parent);
    if (n < 0 || n >= (int)sizeof w->path || !mkdtemp(w->path)) {
        int e = n >= (int)sizeof w->path ? ENAMETOOLONG : errno;

        w->path[0] = 0;
        return tb_fail(err, "cannot make a directory in %s: %s; set TMPDIR to one that can be written",
                       parent, strerror(e));
    }
    return 0;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *where)
{
    (void)st;
    (void)type;
    (void)where;
    return remove(path) < 0 ? -errno : 0;
}

int tb_workdir_remove(struct tb_workdir *w)
{
    int rc = 0;

    if (w->path[0] && !w->keep) {
        rc = nftw(w->path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
        w->path[0] = 0;
    }
    return rc;
}

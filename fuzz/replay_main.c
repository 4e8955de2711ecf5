/* Feeds files to a fuzz target without a fuzzer: corpora as tests, with any compiler. Arguments are files, or
 * directories whose files are taken. Fails if there was nothing to feed. */
#include "fuzz/fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_FILE (1 << 20)

static int feed_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data = malloc(MAX_FILE + 1), *exact = NULL;
    int status = 1;
    size_t n;

    if (!f || !data)
        goto out;
    n = fread(data, 1, MAX_FILE + 1, f);
    if (ferror(f))
        goto out;
    if (n > MAX_FILE) {
        errno = EFBIG;
        goto out;
    }
    exact =
        malloc(n ? n : 1); /* a block that ends where the input does, so that a sanitizer sees reads beyond */
    if (!exact)
        goto out;
    memcpy(exact, data, n);
    LLVMFuzzerTestOneInput(exact, n);
    status = 0;
out:
    if (status)
        fprintf(stderr, "%s: not read: %s\n", path, strerror(errno));
    free(exact);
    free(data);
    if (f)
        fclose(f);
    return status;
}

/* Feeds a file, or what is directly in a directory; counts what was fed. */
static int feed(const char *path, unsigned *fed)
{
    struct stat st;
    int status = 0;

    if (stat(path, &st)) {
        fprintf(stderr, "%s: not found: %s\n", path, strerror(errno));
        return 1;
    }
    if (!S_ISDIR(st.st_mode)) {
        ++*fed;
        return feed_file(path);
    }
    DIR *dir = opendir(path);
    if (!dir) {
        fprintf(stderr, "%s: not read: %s\n", path, strerror(errno));
        return 1;
    }
    for (struct dirent *e; (e = readdir(dir));) {
        char child[4096];
        if (e->d_name[0] == '.')
            continue;
        if ((size_t)snprintf(child, sizeof(child), "%s/%s", path, e->d_name) >= sizeof(child)) {
            fprintf(stderr, "%s/%s: name too long\n", path, e->d_name);
            status = 1;
        } else if (!stat(child, &st) && S_ISREG(st.st_mode)) {
            ++*fed;
            status |= feed_file(child);
        }
    }
    closedir(dir);
    return status;
}

int main(int argc, char **argv)
{
    unsigned fed = 0;
    int status = 0;

    for (int i = 1; i < argc; i++)
        status |= feed(argv[i], &fed);
    if (!fed) {
        fprintf(stderr, "usage: %s FILE|DIRECTORY...: nothing was fed\n", argv[0]);
        return 2;
    }
    printf("%u inputs\n", fed);
    return status;
}

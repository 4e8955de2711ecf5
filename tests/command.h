/* Runs a subcommand of `pawl` as a user does: in a child, with its output in files. For tests with cmocka. */
#ifndef PAWL_TESTS_COMMAND_H
#define PAWL_TESTS_COMMAND_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* cmocka needs the headers above. */
#include <cmocka.h>

#define COMMAND_ARGUMENTS 31

struct command_said {
    char output[262144], errors[8192];
};

static inline void command_slurp(FILE *f, char *to, size_t size)
{
    rewind(f);
    to[fread(to, 1, size - 1, f)] = '\0';
    fclose(f);
}

/* Runs command(argc, argv) with this name and these arguments, NULL at the end; returns its exit status. */
static inline int command_run(int (*command)(int, char **), const char *name, const char *const *args,
                              struct command_said *said)
{
    FILE *out = tmpfile(), *err = tmpfile();
    pid_t pid;
    int how;

    assert_non_null(out);
    assert_non_null(err);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        char *argv[COMMAND_ARGUMENTS + 1] = {strdup(name)}, *text[COMMAND_ARGUMENTS + 1];
        int argc = 0, status;

        dup2(fileno(out), STDOUT_FILENO);
        dup2(fileno(err), STDERR_FILENO);
        for (text[argc++] = argv[0]; args[argc - 1] && argc < COMMAND_ARGUMENTS; argc++) {
            argv[argc] = text[argc] = strdup(args[argc - 1]); /* getopt() moves what is in argv */
        }
        argv[argc] = NULL;
        status = command(argc, argv);
        while (argc) {
            free(text[--argc]);
        }
        exit(status);
    }
    assert_int_equal(waitpid(pid, &how, 0), pid);
    command_slurp(out, said->output, sizeof said->output);
    command_slurp(err, said->errors, sizeof said->errors);
    assert_true(WIFEXITED(how));
    return WEXITSTATUS(how);
}

#endif

/* The subcommands of `pawl`: each parses its options and calls the folder that does the work. argv[0] is the
 * subcommand's name. The return value is the exit status: 0 done, 1 the work failed, 2 wrong usage. */
#ifndef PAWL_CLI_CLI_H
#define PAWL_CLI_CLI_H

int cli_load(int argc, char **argv);
int cli_endpoint(int argc, char **argv);
int cli_testbed(int argc, char **argv);
int cli_bench(int argc, char **argv);
int cli_check(int argc, char **argv);

#endif

/* `pawl testbed` alone, so that its tests need nothing of the other subcommands. */
#include "cli/cli.h"

int main(int argc, char **argv)
{
    return cli_testbed(argc, argv);
}

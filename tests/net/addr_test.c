/* Addresses: what is read, what is refused and in which words, and that text and address agree both ways. */
#include "net/addr.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* cmocka needs the headers above. */
#include <cmocka.h>

static void reads_literal_addresses_and_writes_them_back(void **state)
{
    static const struct {
        const char *text, *back, *host;
        unsigned port;
        int family;
    } cases[] = {
        {"1.2.3.4:80", "1.2.3.4:80", "1.2.3.4", 80, AF_INET},
        {"127.0.0.1:0", "127.0.0.1:0", "127.0.0.1", 0, AF_INET},
        {"255.255.255.255:65535", "255.255.255.255:65535", "255.255.255.255", 65535, AF_INET},
        {"*:8080", "0.0.0.0:8080", "0.0.0.0", 8080, AF_INET},
        {":8080", "0.0.0.0:8080", "0.0.0.0", 8080, AF_INET},
        {"[::1]:80", "[::1]:80", "::1", 80, AF_INET6},
        {"[::]:1", "[::]:1", "::", 1, AF_INET6},
        {"[2001:DB8::0:1]:443", "[2001:db8::1]:443", "2001:db8::1", 443, AF_INET6},
        {"[::ffff:1.2.3.4]:9", "[::ffff:1.2.3.4]:9", "::ffff:1.2.3.4", 9, AF_INET6},
        {"unix@/run/a.sock", "unix@/run/a.sock", "unix", 0, AF_UNIX},
        {"1.2.3.4:00080", "1.2.3.4:80", "1.2.3.4", 80, AF_INET},
    };
    char text[NET_ADDR_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct net_addr a;
        const char *err = NULL;

        assert_true(net_addr_parse(&a, cases[i].text, &err));
        assert_int_equal(a.ss.ss_family, cases[i].family);
        assert_int_equal(net_addr_port(&a), cases[i].port);
        assert_string_equal(net_addr_format(&a, text, sizeof text), cases[i].back);
        assert_int_equal(net_addr_host(&a, text, sizeof text), strlen(cases[i].host));
        assert_string_equal(text, cases[i].host);
    }
}

static void refuses_everything_else_and_says_what_was_expected(void **state)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        {"", "a port"},
        {"1.2.3.4", "a port"},
        {"localhost", "literal"},
        {"localhost:80", "not resolved"},
        {"example.org:80", "not resolved"},
        {"*x:80", "not resolved"},
        {"**:80", "not resolved"},
        {" 1.2.3.4:80", "not resolved"},
        {"1.2.3:80", "four numbers"},
        {"1.2.3.4.5:80", "four numbers"},
        {"1.2.3.256:80", "four numbers"},
        {"01.2.3.4:80", "four numbers"},
        {"1.2.3.4444444444444444444:80", "four numbers"},
        {"1.2.3.4:", "a port, at most 65535"},
        {":", "a port, at most 65535"},
        {"1.2.3.4:65536", "a port, at most 65535"},
        {"1.2.3.4:99999999999999999999", "a port, at most 65535"},
        {"1.2.3.4:000080", "a port, at most 65535"},
        {"1.2.3.4:+80", "a port, at most 65535"},
        {"1.2.3.4:-1", "a port, at most 65535"},
        {"1.2.3.4: 80", "a port, at most 65535"},
        {"1.2.3.4:80 ", "a port, at most 65535"},
        {"1.2.3.4:http", "a port, at most 65535"},
        {"1.2.3.4:0x50", "a port, at most 65535"},
        {"::1:80", "brackets around"},
        {"::", "brackets around"},
        {"[::1]", "port after"},
        {"[::1", "port after"},
        {"[::1]80", "port after"},
        {"[1.2.3.4]:80", "in the brackets"},
        {"[]:80", "in the brackets"},
        {"[::1]:", "a port, at most 65535"},
        {"[::1]:65536", "a port, at most 65535"},
        {"[1:2:3:4:5:6:7:8:9:1:2:3:4:5:6:7:8:9:1:2:3:4:5:6:7:8]:80", "in the brackets"},
        {"unix@", "absolute path"},
        {"unix@run/a.sock", "absolute path"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct net_addr a;
        const char *err = NULL;

        if (net_addr_parse(&a, cases[i].text, &err) || !err || !strstr(err, cases[i].says)) {
            fail_msg("'%s': expected a refusal with '%s', got '%s'", cases[i].text, cases[i].says,
                     err ? err : "none");
        }
    }
}

static void a_unix_path_may_fill_the_address_but_not_overflow_it(void **state)
{
    char text[5 + 108 + 1] = "unix@/", back[NET_ADDR_TEXT];
    struct net_addr a;
    const char *err = NULL;

    (void)state;
    memset(text + 6, 'x', 106);
    text[112] = '\0';
    assert_true(net_addr_parse(&a, text, &err));
    assert_string_equal(net_addr_format(&a, back, sizeof back), text);
    text[112] = 'x';
    text[113] = '\0';
    assert_false(net_addr_parse(&a, text, &err));
    assert_non_null(strstr(err, "107"));
}

static void formatting_into_little_room_is_cut_and_terminated(void **state)
{
    struct net_addr a;
    const char *err;
    char text[6];

    (void)state;
    assert_true(net_addr_parse(&a, "192.168.100.200:12345", &err));
    assert_string_equal(net_addr_format(&a, text, sizeof text), "192.1");
    assert_int_equal(net_addr_host(&a, text, sizeof text), 5);
    assert_string_equal(text, "192.1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_literal_addresses_and_writes_them_back),
        cmocka_unit_test(refuses_everything_else_and_says_what_was_expected),
        cmocka_unit_test(a_unix_path_may_fill_the_address_but_not_overflow_it),
        cmocka_unit_test(formatting_into_little_room_is_cut_and_terminated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Configurations that are accepted, and what they mean: values, inheritance from defaults, resolved backends.
 */
#include "load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct cfg_proxy *proxy(struct cfg *c, const char *name)
{
    for (size_t i = 0; i < c->nproxies; i++) {
        if (!strcmp(c->proxies[i]->name, name)) {
            return c->proxies[i];
        }
    }
    fail_msg("no proxy %s", name);
    return NULL;
}

static void a_whole_configuration_becomes_the_model(void **state)
{
    struct cfg *c = load_good("global\n nbthread 4\n maxconn 10000\n" DEFAULTS " timeout queue 1500us\n"
                              " timeout http-request 2m\n timeout http-keep-alive 1h\n"
                              "frontend web\n bind 127.0.0.1:8080,[::1]:8081\n bind fd@7\n maxconn 100\n"
                              " default_backend pool\n option forwardfor header X-Client if-none\n"
                              "backend pool\n balance roundrobin\n retries 5\n option redispatch\n"
                              " server a 127.0.0.1:9001\n server b unix@/b weight 0 maxconn 20\n");
    struct cfg_proxy *web, *pool;

    (void)state;
    assert_int_equal(c->nbthread, 4);
    assert_int_equal(c->maxconn, 10000);
    assert_int_equal(c->nproxies, 2);
    assert_int_equal(c->nwarnings, 0);
    web = proxy(c, "web");
    pool = proxy(c, "pool");
    assert_true(web->frontend && !web->backend && !pool->frontend && pool->backend);
    assert_ptr_equal(web->default_backend, pool);
    assert_null(pool->default_backend);
    assert_int_equal(web->maxconn, 100);
    assert_int_equal(web->timeouts.client, 1000);
    assert_int_equal(pool->timeouts.server, 1000);
    assert_int_equal(pool->timeouts.connect, 1000);
    assert_int_equal(pool->timeouts.queue, 2);
    assert_int_equal(web->timeouts.http_request, 120000);
    assert_int_equal(web->timeouts.http_keep_alive, 3600000);
    assert_true(web->forwardfor && web->forwardfor_if_none && !pool->forwardfor);
    assert_string_equal(web->forwardfor_header, "X-Client");
    assert_int_equal(pool->retries, 5);
    assert_true(pool->redispatch);
    assert_int_equal(pool->balance, CFG_BALANCE_ROUNDROBIN);

    assert_int_equal(web->nbinds, 3);
    assert_string_equal(web->binds[0].text, "127.0.0.1:8080");
    assert_int_equal(net_addr_port(&web->binds[1].addr), 8081);
    assert_int_equal(web->binds[1].fd, -1);
    assert_int_equal(web->binds[2].fd, 7);
    assert_int_equal(web->binds[2].where.line, 14);
    assert_int_equal(web->binds[2].where.column, 7);
    assert_string_equal(web->binds[2].where.file, "f");

    assert_int_equal(pool->nservers, 2);
    assert_string_equal(pool->servers[0].name, "a");
    assert_int_equal(net_addr_port(&pool->servers[0].addr), 9001);
    assert_int_equal(pool->servers[0].weight, 1);
    assert_int_equal(pool->servers[0].maxconn, 0);
    assert_string_equal(pool->servers[1].addr_text, "unix@/b");
    assert_int_equal(pool->servers[1].weight, 0);
    assert_int_equal(pool->servers[1].maxconn, 20);
    assert_int_equal(pool->servers[1].where.line, 23);
    cfg_free(c);
}

static void what_is_not_said_has_the_languages_default(void **state)
{
    struct cfg *c = load_good(DEFAULTS "listen l\n bind :80\n server a 127.0.0.1:81\n");
    struct cfg_proxy *l = proxy(c, "l");

    (void)state;
    assert_int_equal(c->nbthread, -1);
    assert_int_equal(c->maxconn, -1);
    assert_int_equal(l->maxconn, -1);
    assert_int_equal(l->retries, 3);
    assert_int_equal(l->timeouts.queue, -1);
    assert_int_equal(l->timeouts.http_request, -1);
    assert_int_equal(l->timeouts.http_keep_alive, -1);
    assert_false(l->redispatch || l->forwardfor || l->forwardfor_if_none);
    assert_null(l->forwardfor_header);
    cfg_free(c);
}

static void zero_takes_a_limit_or_a_timeout_away(void **state)
{
    struct cfg *c = load_good("global\n maxconn 5\n maxconn 0\n" DEFAULTS " maxconn 7\n timeout queue 5\n"
                              "listen l\n bind :80\n maxconn 0\n timeout queue 0\n retries 0\n"
                              " default-server maxconn 4\n server a 127.0.0.1:81 maxconn 0\n");
    struct cfg_proxy *l = proxy(c, "l");

    (void)state;
    assert_int_equal(c->maxconn, -1);
    assert_int_equal(l->maxconn, -1);
    assert_int_equal(l->timeouts.queue, -1);
    assert_int_equal(l->retries, 0);
    assert_int_equal(l->servers[0].maxconn, 0);
    cfg_free(c);
}

static void a_listen_answers_with_its_own_servers_or_its_default_backend(void **state)
{
    struct cfg *c = load_good(DEFAULTS "listen own\n bind :80\n server a 127.0.0.1:81\n"
                                       "listen other\n bind :82\n default_backend own\n");

    (void)state;
    assert_ptr_equal(proxy(c, "own")->default_backend, proxy(c, "own"));
    assert_ptr_equal(proxy(c, "other")->default_backend, proxy(c, "own"));
    cfg_free(c);
}

static void a_default_backend_may_stand_anywhere_and_share_a_frontends_name(void **state)
{
    struct cfg *c = load_good(DEFAULTS "backend first\n server a 127.0.0.1:81\n"
                                       "frontend late\n bind :80\n default_backend same\n"
                                       "frontend same\n bind :82\n default_backend first\n"
                                       "backend same\n server a 127.0.0.1:81\n");

    (void)state;
    assert_true(proxy(c, "late")->default_backend->backend);
    assert_string_equal(proxy(c, "late")->default_backend->name, "same");
    assert_ptr_equal(proxy(c, "same")->default_backend, proxy(c, "first"));
    cfg_free(c);
}

static void a_later_defaults_section_replaces_an_earlier_one_as_a_whole(void **state)
{
    struct cfg *c =
        load_good(DEFAULTS " retries 9\n option redispatch\n maxconn 5\n option forwardfor header X\n"
                           " default-server weight 7 maxconn 8\n timeout queue 1m\n"
                           "listen a\n bind :80\n server s 127.0.0.1:81\n" DEFAULTS
                           "listen b\n bind :82\n server s 127.0.0.1:81\n");
    struct cfg_proxy *a = proxy(c, "a"), *b = proxy(c, "b");

    (void)state;
    assert_int_equal(a->retries, 9);
    assert_true(a->redispatch && a->forwardfor);
    assert_string_equal(a->forwardfor_header, "X");
    assert_int_equal(a->maxconn, 5);
    assert_int_equal(a->servers[0].weight, 7);
    assert_int_equal(a->servers[0].maxconn, 8);
    assert_int_equal(a->timeouts.queue, 60000);
    assert_int_equal(b->retries, 3);
    assert_false(b->redispatch || b->forwardfor);
    assert_null(b->forwardfor_header);
    assert_int_equal(b->maxconn, -1);
    assert_int_equal(b->servers[0].weight, 1);
    assert_int_equal(b->servers[0].maxconn, 0);
    assert_int_equal(b->timeouts.queue, -1);
    cfg_free(c);
}

static void from_chooses_a_named_defaults_section_and_they_build_on_each_other(void **state)
{
    struct cfg *c =
        load_good("defaults base\n mode http\n timeout client 1s\n timeout server 1s\n timeout connect 1s\n"
                  " retries 7\n default_backend pool\n"
                  "defaults more from base\n timeout client 2s\n"
                  "defaults from base\n timeout client 3s\n"
                  "frontend last\n bind :80\n"
                  "frontend chosen from more\n bind :81\n"
                  "backend pool from base\n server a 127.0.0.1:82\n");

    (void)state;
    assert_int_equal(proxy(c, "last")->timeouts.client, 3000);
    assert_int_equal(proxy(c, "chosen")->timeouts.client, 2000);
    assert_int_equal(proxy(c, "pool")->retries, 7);
    assert_ptr_equal(proxy(c, "last")->default_backend, proxy(c, "pool"));
    assert_ptr_equal(proxy(c, "chosen")->default_backend, proxy(c, "pool"));
    assert_null(proxy(c, "pool")->default_backend);
    cfg_free(c);
}

static void defaults_may_have_any_name_and_share_it_until_one_is_referred_to(void **state)
{
    struct cfg *c =
        load_good("defaults 'a b'\ndefaults x\ndefaults x\n mode http\n timeout client 1\n"
                  " timeout connect 1\n timeout server 1\nlisten l\n bind :80\n server a 127.0.0.1:81\n");

    (void)state;
    cfg_free(c);
}

static void default_server_holds_for_the_servers_after_it(void **state)
{
    struct cfg *c =
        load_good(DEFAULTS " default-server weight 5\n"
                           "listen l\n bind :80\n server a 127.0.0.1:81\n default-server maxconn 3\n"
                           " server b 127.0.0.1:82\n server c 127.0.0.1:83 weight 9 weight 6\n");
    struct cfg_server *s = proxy(c, "l")->servers;

    (void)state;
    assert_int_equal(s[0].weight, 5);
    assert_int_equal(s[0].maxconn, 0);
    assert_int_equal(s[1].weight, 5);
    assert_int_equal(s[1].maxconn, 3);
    assert_int_equal(s[2].weight, 6);
    assert_int_equal(s[2].maxconn, 3);
    cfg_free(c);
}

static void no_takes_an_inherited_option_away_and_the_last_line_wins(void **state)
{
    struct cfg *c = load_good(DEFAULTS " option redispatch\n option http-keep-alive\n"
                                       "listen a\n bind :80\n server s 127.0.0.1:81\n no option redispatch\n"
                                       " no option http-keep-alive\n"
                                       "listen b\n bind :82\n server s 127.0.0.1:81\n option redispatch 0\n"
                                       "listen c\n bind :83\n server s 127.0.0.1:81\n option redispatch 0\n"
                                       " option redispatch -1\n retries 1\n retries 2\n");

    (void)state;
    assert_false(proxy(c, "a")->redispatch);
    assert_false(proxy(c, "b")->redispatch);
    assert_true(proxy(c, "c")->redispatch);
    assert_int_equal(proxy(c, "c")->retries, 2);
    cfg_free(c);
}

static void forwardfor_of_a_section_replaces_the_inherited_one(void **state)
{
    struct cfg *c = load_good(
        DEFAULTS " option forwardfor header X if-none\n"
                 "listen a\n bind :80\n server s 127.0.0.1:81\n option forwardfor\n"
                 "listen b\n bind :82\n server s 127.0.0.1:81\n option forwardfor if-none header Y\n");

    (void)state;
    assert_true(proxy(c, "a")->forwardfor);
    assert_false(proxy(c, "a")->forwardfor_if_none);
    assert_null(proxy(c, "a")->forwardfor_header);
    assert_true(proxy(c, "b")->forwardfor_if_none);
    assert_string_equal(proxy(c, "b")->forwardfor_header, "Y");
    cfg_free(c);
}

static void the_environment_fills_in_addresses_and_options(void **state)
{
    struct cfg *c;

    (void)state;
    setenv("FE1", "5", 1);
    setenv("LIMITS", "weight 7 maxconn 9", 1);
    unsetenv("NONE");
    c = load_good(DEFAULTS
                  "listen l\n bind \"fd@${FE1}\" \"$NONE\"\n server \"s${.LINE}\" \"127.0.0.1:${NONE-81}\" "
                  "\"${LIMITS[*]}\"\n server t 127.0.0.1:82 \"$NONE\" weight 3\n default-server \"$NONE\"\n"
                  " option forwardfor \"$NONE\"\n");
    assert_int_equal(proxy(c, "l")->binds[0].fd, 5);
    assert_string_equal(proxy(c, "l")->binds[0].text, "fd@5");
    assert_string_equal(proxy(c, "l")->servers[0].name, "s8");
    assert_string_equal(proxy(c, "l")->servers[0].addr_text, "127.0.0.1:81");
    assert_int_equal(proxy(c, "l")->servers[0].weight, 7);
    assert_int_equal(proxy(c, "l")->servers[0].maxconn, 9);
    assert_int_equal(proxy(c, "l")->servers[1].weight, 3);
    cfg_free(c);
}

static void lines_may_be_indented_quoted_commented_and_end_with_cr(void **state)
{
    struct cfg *c = load_good("# a comment\r\n\r\n\tglobal # here\r\n   'nbthread' \"2\"\r\n" DEFAULTS
                              "listen\tl\r\n\t\tbind\t:8'0'\"80\"#x\r\nserver a 127.0.0.1:81\r\n");

    (void)state;
    assert_int_equal(c->nbthread, 2);
    assert_string_equal(proxy(c, "l")->binds[0].text, ":8080");
    cfg_free(c);
}

static void limits_are_accepted_up_to_their_ends(void **state)
{
    struct cfg *c =
        load_good("global\n nbthread 256\n maxconn 2147483647\n" DEFAULTS
                  "listen l\n bind :65535\n bind fd@2147483647\n maxconn 2147483647\n retries 2147483647\n"
                  " timeout client 2147483647\n server a 127.0.0.1:1 weight 256 maxconn 2147483647\n");

    (void)state;
    assert_int_equal(c->nbthread, 256);
    assert_int_equal(proxy(c, "l")->servers[0].weight, 256);
    assert_int_equal(proxy(c, "l")->servers[0].maxconn, 2147483647);
    assert_int_equal(proxy(c, "l")->binds[1].fd, 2147483647);
    cfg_free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_whole_configuration_becomes_the_model),
        cmocka_unit_test(what_is_not_said_has_the_languages_default),
        cmocka_unit_test(zero_takes_a_limit_or_a_timeout_away),
        cmocka_unit_test(a_listen_answers_with_its_own_servers_or_its_default_backend),
        cmocka_unit_test(a_default_backend_may_stand_anywhere_and_share_a_frontends_name),
        cmocka_unit_test(a_later_defaults_section_replaces_an_earlier_one_as_a_whole),
        cmocka_unit_test(from_chooses_a_named_defaults_section_and_they_build_on_each_other),
        cmocka_unit_test(defaults_may_have_any_name_and_share_it_until_one_is_referred_to),
        cmocka_unit_test(default_server_holds_for_the_servers_after_it),
        cmocka_unit_test(no_takes_an_inherited_option_away_and_the_last_line_wins),
        cmocka_unit_test(forwardfor_of_a_section_replaces_the_inherited_one),
        cmocka_unit_test(the_environment_fills_in_addresses_and_options),
        cmocka_unit_test(lines_may_be_indented_quoted_commented_and_end_with_cr),
        cmocka_unit_test(limits_are_accepted_up_to_their_ends),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Configurations that are refused or warned about: the place, and the words that help. */
#include "load.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct example {
    const char *text;
    unsigned line, column;
    const char *says;
};

static void refused(const struct example *examples, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        assert_refused(examples[i].text, examples[i].line, examples[i].column, examples[i].says);
    }
}

#define REFUSED(examples) refused(examples, sizeof(examples) / sizeof *(examples))

/* Behind DEFAULTS (5 lines): a listen section whose lines 6 to 8 are right; a keyword follows on line 9. */
#define LISTEN            DEFAULTS "listen l\n bind :80\n server a 127.0.0.1:81\n"
#define FRONTEND          DEFAULTS "frontend w\n bind :80\n default_backend b\n"
#define BACKEND           "backend b\n server a 127.0.0.1:81\n"

static void unknown_keywords_are_refused_with_what_may_stand_there_and_the_nearest_match(void **state)
{
    static const struct example examples[] = {
        {LISTEN " acl x path /\n", 9, 2,
         "unknown keyword 'acl' in a listen section; expected one of: balance, bind, default-server, "
         "default_backend, "
         "maxconn, mode, option forwardfor, option http-keep-alive, option redispatch, retries, server, "
         "timeout "
         "client, timeout connect, timeout http-keep-alive, timeout http-request, timeout queue, timeout "
         "server; or a "
         "section: global, defaults, frontend, backend, listen\n"},
        {FRONTEND " use_backend b\n" BACKEND, 9, 2,
         "in a frontend section; expected one of: bind, default_backend, maxconn, mode, option forwardfor, "
         "option "
         "http-keep-alive, timeout client, timeout http-keep-alive, timeout http-request; or"},
        {"global\n daemon\n" LISTEN, 2, 2, "in a global section; expected one of: maxconn, nbthread; or"},
        {LISTEN "  maxcon 5\n", 9, 3, "did you mean 'maxconn'? expected one of"},
        {LISTEN " MAXCONN 5\n", 9, 2, "did you mean 'maxconn'?"},
        {LISTEN " sevrer b 127.0.0.1:82\n", 9, 2, "did you mean 'server'?"},
        {LISTEN " default-backend b\n", 9, 2, "did you mean 'default_backend'?"},
        {LISTEN " timeuot client 5\n", 9, 2, "did you mean 'timeout'?"},
        {LISTEN " 'max conn' 5\n", 9, 2, "unknown keyword 'max conn'"},
        {LISTEN " \"\" 5\n", 9, 2, "unknown keyword ''"},
        {LISTEN " max\\x1b[2J\n", 9, 2, "unknown keyword 'max\\x1b[2J'"},
        {LISTEN " timeout clinet 5\n", 9, 10,
         "unknown keyword 'timeout clinet'; did you mean 'client'? expected one of: timeout client, timeout "
         "connect"},
        {LISTEN " timeout tunnel 5\n", 9, 10, "unknown keyword 'timeout tunnel'; expected one of"},
        {LISTEN " timeout\n", 9, 2, "'timeout' needs a word behind it"},
        {LISTEN " option httplog\n", 9, 9,
         "unknown keyword 'option httplog'; expected one of: option forwardfor, option http-keep-alive, "
         "option "
         "redispatch"},
        {LISTEN " option httpclose\n", 9, 9, "unknown keyword 'option httpclose'"},
        {LISTEN " option\n", 9, 2, "'option' needs a word behind it"},
        {LISTEN " no option dontlognull\n", 9, 12, "unknown keyword 'option dontlognull'"},
        {"global\n timeout client 5\n" LISTEN, 2, 2, "'timeout client' can't stand in a global section"},
        {"global\n option httplog\n" LISTEN, 2, 2,
         "unknown keyword 'option' in a global section; expected one of"},
    };

    (void)state;
    REFUSED(examples);
}

static void keywords_out_of_place_name_the_sections_they_may_stand_in(void **state)
{
    static const struct example examples[] = {
        {"maxconn 5\n" LISTEN, 1, 1,
         "'maxconn' before any section; it may stand in: global, defaults, frontend, listen"},
        {"foo\n" LISTEN, 1, 1,
         "unknown keyword 'foo' before any section; expected a section: global, defaults"},
        {LISTEN " nbthread 5\n", 9, 2, "'nbthread' can't stand in a listen section; it may stand in: global"},
        {FRONTEND " server a 127.0.0.1:81\n" BACKEND, 9, 2,
         "'server' can't stand in a frontend section; it may stand in: backend, listen"},
        {FRONTEND " default-server weight 3\n" BACKEND, 9, 2,
         "can't stand in a frontend section; it may stand in: defaults, backend, listen"},
        {"defaults\n bind :80\n" LISTEN, 2, 2,
         "'bind' can't stand in a defaults section; it may stand in: frontend"},
        {"defaults\n server a 127.0.0.1:80\n" LISTEN, 2, 2, "can't stand in a defaults section"},
        {"global\n mode http\n" LISTEN, 2, 2, "'mode' can't stand in a global section"},
    };

    (void)state;
    REFUSED(examples);
}

static void keywords_that_are_only_useless_in_their_section_are_warned_about(void **state)
{
    (void)state;
    assert_warned(
        FRONTEND " retries 5\n" BACKEND, 9, 2,
        "'retries' has no effect in a frontend section and is ignored; it may stand in: defaults, backend");
    assert_warned(FRONTEND " timeout server 5\n" BACKEND, 9, 2, "'timeout server' has no effect");
    assert_warned(FRONTEND " balance leastconn\n" BACKEND, 9, 2, "'balance' has no effect");
    assert_warned(FRONTEND " option redispatch\n" BACKEND, 9, 2, "'option redispatch' has no effect");
    assert_warned(FRONTEND BACKEND " bind :82\n", 11, 2, "'bind' has no effect in a backend section");
    assert_warned(FRONTEND BACKEND " maxconn 82\n", 11, 2,
                  "it may stand in: global, defaults, frontend, listen");
    assert_warned(FRONTEND BACKEND " default_backend x\n", 11, 2, "'default_backend' has no effect");
    assert_warned(FRONTEND BACKEND " timeout client 5\n", 11, 2, "'timeout client' has no effect");
}

static void wrong_values_are_refused_at_their_word_with_what_was_expected(void **state)
{
    static const struct example examples[] = {
        {"global\n nbthread 0\n" LISTEN, 2, 11,
         "'0': not a value for 'nbthread'; expected a whole number from 1 to 256"},
        {"global\n nbthread 257\n" LISTEN, 2, 11, "from 1 to 256"},
        {"global\n nbthread two\n" LISTEN, 2, 11, "from 1 to 256"},
        {LISTEN " maxconn  abc\n", 9, 11,
         "'abc': not a value for 'maxconn'; expected a whole number from 0 to 2147483647"},
        {LISTEN " maxconn -1\n", 9, 10, "'-1'"},
        {LISTEN " maxconn 1.5\n", 9, 10, "'1.5'"},
        {LISTEN " maxconn 2147483648\n", 9, 10, "from 0 to 2147483647"},
        {LISTEN " maxconn 99999999999999999999999\n", 9, 10, "from 0 to 2147483647"},
        {LISTEN " maxconn 1\\x00\n", 9, 11, "NUL"},
        {LISTEN " retries many\n", 9, 10, "'many': not a value for 'retries'"},
        {LISTEN " timeout client 1.5s\n", 9, 17,
         "'1.5s': not a time for 'timeout client'; expected a whole number and us, ms"},
        {LISTEN " timeout client soon\n", 9, 17, "not a time"},
        {LISTEN " timeout client -5\n", 9, 17, "not a time"},
        {LISTEN " timeout client 25d\n", 9, 17, "too long"},
        {LISTEN " timeout client 2147483648\n", 9, 17, "expected at most 2147483647 ms"},
        {LISTEN " mode tcp\n", 9, 7, "'mode tcp' is not supported yet"},
        {LISTEN " mode health\n", 9, 7, "'health': not a mode; expected 'mode http'"},
        {LISTEN " balance leastconn\n", 9, 10, "'leastconn': not a supported algorithm"},
        {LISTEN " option redispatch 1\n", 9, 20, "not a supported interval"},
        {LISTEN " option redispatch x\n", 9, 20, "not a supported interval"},
        {LISTEN " no option redispatch x\n", 9, 23, "one word too many for 'no option redispatch'"},
        {LISTEN " option http-keep-alive x\n", 9, 25, "one word too many"},
        {LISTEN " no option forwardfor\n", 9, 2, "'no' can't stand before 'option forwardfor'"},
        {LISTEN " no maxconn 5\n", 9, 2, "'no' must stand before an option"},
        {LISTEN " no\n", 9, 2, "'no' must stand before an option"},
        {LISTEN " option forwardfor except 127.0.0.1\n", 9, 20,
         "'except' of 'option forwardfor' is not supported yet"},
        {LISTEN " option forwardfor header\n", 9, 20, "needs a name"},
        {LISTEN " option forwardfor header 'a b'\n", 9, 27, "not a header field's name"},
        {LISTEN " option forwardfor header a:\n", 9, 27, "not a header field's name"},
        {LISTEN " option forwardfor header x\\r\\ny:\n", 9, 27, "'x\\x0d\\x0ay:'"},
        {LISTEN " option forwardfor header content-length\n", 9, 27, "has another meaning in HTTP"},
        {LISTEN " option forwardfor header Transfer-Encoding\n", 9, 27, "has another meaning in HTTP"},
        {LISTEN " option forwardfor ifnone\n", 9, 20, "'ifnone': not known to 'option forwardfor'"},
    };

    (void)state;
    REFUSED(examples);
}

static void words_missing_empty_or_too_many_are_refused(void **state)
{
    static const struct example examples[] = {
        {LISTEN " maxconn\n", 9, 2, "'maxconn' lacks its arguments; expected: maxconn <number>"},
        {LISTEN " maxconn 5 6\n", 9, 12,
         "'6' is one word too many for 'maxconn'; expected: maxconn <number>"},
        {LISTEN " maxconn ''\n", 9, 10, "an empty word"},
        {LISTEN " maxconn \"$NONE\"\n", 9, 10, "a variable in it is unset or empty"},
        {LISTEN " server b \"$NONE\" weight 3\n", 9, 11, "a variable in it is unset or empty"},
        {LISTEN " server b 127.0.0.1:82 '' weight 3\n", 9, 24, "an empty word"},
        {LISTEN " bind \"$NONE\"\n", 9, 7, "a variable in it is unset or empty"},
        {LISTEN " timeout client\n", 9, 2, "'timeout client' lacks its arguments"},
        {LISTEN " timeout client 5 6\n", 9, 19, "one word too many"},
        {LISTEN " mode\n", 9, 2, "expected: mode http"},
        {LISTEN " balance roundrobin x\n", 9, 21, "one word too many"},
        {LISTEN " server\n", 9, 2, "'server' lacks its arguments; expected: server <name> <address>"},
        {LISTEN " server b\n", 9, 2, "'server' lacks an argument"},
        {LISTEN " default-server\n", 9, 2, "lacks its arguments"},
        {LISTEN " bind\n", 9, 2, "'bind' lacks its arguments"},
        {LISTEN " bind :82 ssl\n", 9, 11, "'ssl' is one word too many for 'bind'"},
        {LISTEN " default_backend b if TRUE\n" BACKEND, 9, 20, "'if' is one word too many"},
    };

    (void)state;
    unsetenv("NONE");
    REFUSED(examples);
}

static void addresses_are_refused_with_what_was_expected(void **state)
{
    static const struct example examples[] = {
        {LISTEN " bind 127.0.0.1\n", 9, 7, "a literal address and a port"},
        {LISTEN " bind localhost:82\n", 9, 7, "names are not resolved"},
        {LISTEN " bind 127.0.0.1:0\n", 9, 7, "port 0 can't be listened on"},
        {LISTEN " bind 127.0.0.1:65536\n", 9, 7, "at most 65535"},
        {LISTEN " bind 127.0.0.1:82-84\n", 9, 7, "at most 65535"},
        {LISTEN " bind :82,\n", 9, 7, "names no address before or after a comma"},
        {LISTEN " bind ,:82\n", 9, 7, "names no address"},
        {LISTEN " bind :$PORT\n", 9, 7, "expanded within double quotes only"},
        {LISTEN " bind fd@\n", 9, 7, "an inherited listening socket after fd@"},
        {LISTEN " bind fd@x\n", 9, 7, "after fd@"},
        {LISTEN " bind fd@-1\n", 9, 7, "after fd@"},
        {LISTEN " bind fd@1x\n", 9, 7, "after fd@"},
        {LISTEN " bind fd@2147483648\n", 9, 7, "after fd@"},
        {LISTEN " server b localhost:82\n", 9, 11, "names are not resolved"},
        {LISTEN " server b 127.0.0.1\n", 9, 11, "a literal address and a port"},
        {LISTEN " server b 127.0.0.1:0\n", 9, 11, "port 0 can't be connected to"},
        {LISTEN " server b 127.0.0.1:+82\n", 9, 11, "a port, at most 65535"},
        {LISTEN " server b 0.0.0.0:82\n", 9, 11, "needs an address of its own"},
        {LISTEN " server b *:82\n", 9, 11, "needs an address of its own"},
        {LISTEN " server b [::]:82\n", 9, 11, "needs an address of its own"},
        {LISTEN " server b ::1:82\n", 9, 11, "brackets around"},
        {LISTEN " server b fd@3\n", 9, 11, "a literal address and a port"},
        {LISTEN " server b 127.0.0.1:${PORT}\n", 9, 11, "expanded within double quotes only"},
    };

    (void)state;
    REFUSED(examples);
}

static void server_parameters_are_refused_at_their_word(void **state)
{
    static const struct example examples[] = {
        {LISTEN " server b 127.0.0.1:82 weight 257\n", 9, 31,
         "'257': not a value for 'weight'; expected a whole number from 0 to 256"},
        {LISTEN " server b 127.0.0.1:82 weight -1\n", 9, 31, "from 0 to 256"},
        {LISTEN " server b 127.0.0.1:82 maxconn abc\n", 9, 32, "'abc': not a value for 'maxconn'"},
        {LISTEN " server b 127.0.0.1:82 weight\n", 9, 24, "'weight' of 'server' needs a value"},
        {LISTEN " server b 127.0.0.1:82 check\n", 9, 24,
         "'check' is not known to 'server'; expected: maxconn <number>, weight <number>"},
        {LISTEN " server b 127.0.0.1:82 wieght 3\n", 9, 24, "did you mean 'weight'?"},
        {LISTEN " default-server weight x\n", 9, 24, "not a value for 'weight'"},
        {LISTEN " default-server inter 3\n", 9, 17, "'inter' is not known to 'default-server'"},
    };

    (void)state;
    REFUSED(examples);
}

static void names_are_checked_and_must_differ(void **state)
{
    static const struct example examples[] = {
        {LISTEN " server b/c 127.0.0.1:82\n", 9, 9,
         "'b/c': a character that can't stand in the name of a server"},
        {LISTEN " server a 127.0.0.1:82\n", 9, 9, "listen 'l' has a server 'a' already, at f:8"},
        {LISTEN "listen a/b\n bind :82\n", 9, 8, "can't stand in the name of a listen"},
        {LISTEN "listen\n bind :82\n", 9, 1,
         "'listen' needs a name; expected: listen <name> [from <defaults>]"},
        {LISTEN "listen '' \n bind :82\n", 9, 8, "an empty name"},
        {LISTEN "listen x y\n bind :82\n", 9, 10, "'y' is one word too many; expected: listen <name>"},
        {LISTEN "frontend l\n bind :82\n", 9, 1, "frontend 'l' has the name of the listen at f:6"},
        {LISTEN "backend l\n", 9, 1, "backend 'l' has the name of the listen at f:6"},
        {LISTEN "listen l\n bind :82\n", 9, 1, "listen 'l' has the name of the listen at f:6"},
        {LISTEN BACKEND BACKEND, 11, 1, "backend 'b' has the name of the backend at f:9"},
        {"global x\n" LISTEN, 1, 8, "'x' is one word too many; expected: global"},
        {"defaults x y\n" LISTEN, 1, 12, "'y' is one word too many; expected: defaults"},
    };

    (void)state;
    REFUSED(examples);
}

static void a_frontend_and_two_backends_of_one_name_give_one_error(void **state)
{
    (void)state;
    assert_refused(DEFAULTS "frontend b\n bind :80\n default_backend b\n" BACKEND BACKEND, 11, 1,
                   "backend 'b' has the name of the backend at f:9");
}

static void from_must_name_one_defaults_section_above(void **state)
{
    static const struct example examples[] = {
        {LISTEN "listen x from\n mode http\n", 9, 10, "'from' needs the name of a defaults section"},
        {LISTEN "listen x from y\n mode http\n", 9, 15, "no defaults section 'y' before this line"},
        {LISTEN "listen x from y\n mode http\ndefaults y\n", 9, 15,
         "no defaults section 'y' before this line"},
        {LISTEN "listen x from 'y z'\n mode http\n", 9, 15, "can't stand in the name"},
        {LISTEN "defaults from y\n", 9, 15, "no defaults section 'y'"},
        {"defaults d\n mode http\ndefaults d\n mode http\nlisten x from d\n mode http\n bind :80\n", 5, 15,
         "'d' could be the defaults section at f:1 or the one at f:3"},
    };

    (void)state;
    REFUSED(examples);
}

static void a_default_backend_must_exist_and_be_another(void **state)
{
    static const struct example examples[] = {
        {DEFAULTS "frontend w\n bind :80\n default_backend b\n", 8, 18,
         "frontend 'w': no backend or listen section 'b' in the configuration"},
        {DEFAULTS "frontend w\n bind :80\n default_backend w\n", 8, 18, "no backend or listen section 'w'"},
        {LISTEN " default_backend l\n", 9, 18, "listen 'l' is its own default_backend"},
        {DEFAULTS " default_backend b\nfrontend w\n bind :80\n", 6, 18, "no backend or listen section 'b'"},
    };

    (void)state;
    REFUSED(examples);
}

static void a_proxy_without_mode_is_refused_since_tcp_is_the_languages_default(void **state)
{
    static const struct example examples[] = {
        {"listen l\n bind :80\n", 1, 1, "listen 'l' has no mode"},
        {"defaults\n mode http\ndefaults\n retries 1\nfrontend l\n bind :80\n", 5, 1,
         "frontend 'l' has no mode"},
        {"defaults\n mode tcp\nfrontend l\n bind :80\n", 2, 7, "not supported yet"},
    };

    (void)state;
    REFUSED(examples);
}

static void what_makes_a_proxy_useless_is_warned_about(void **state)
{
    (void)state;
    assert_warned(LISTEN "frontend x\n default_backend l\n", 9, 1, "frontend 'x' has no 'bind'");
    assert_warned(LISTEN "frontend x\n bind :82\n", 9, 1,
                  "frontend 'x' has no default_backend: every request is answered with 503");
    assert_warned(LISTEN "listen x\n bind :82\n", 9, 1, "listen 'x' has no server and no default_backend");
    assert_warned(LISTEN "backend x\n", 9, 1, "backend 'x' has no server");
    assert_warned(LISTEN " default_backend b\n" BACKEND, 9, 18, "its own servers are never used");
    assert_warned(LISTEN " bind :80\n", 9, 7, "':80' is listened on already, at f:7");
    assert_warned(LISTEN " bind fd@3\n bind fd@3\n", 10, 7, "'fd@3' is listened on already, at f:9");
    assert_warned("defaults\n mode http\nlisten l\n bind :80\n server a 127.0.0.1:81\n", 3, 1,
                  "missing timeouts for listen 'l': a peer that goes silent holds its place for ever; "
                  "expected 'timeout "
                  "client' 'timeout connect' 'timeout server'");
    assert_warned(DEFAULTS "listen l\n bind :80\n server a 127.0.0.1:81\n timeout server 0\n", 6, 1,
                  "expected 'timeout server'\n");
}

static void sections_that_are_not_known_are_refused_once_and_their_lines_passed_over(void **state)
{
    (void)state;
    assert_refused(LISTEN "resolvers dns\n nameserver a 127.0.0.1:53\n foo\n", 9, 1,
                   "a 'resolvers' section is not supported; expected a section: global");
    assert_refused(LISTEN "bakend x\n server a 127.0.0.1:81\n", 9, 1, "did you mean 'backend'?");
    assert_refused(LISTEN ".if defined(X)\n", 9, 1, "unknown keyword '.if'");
}

static void what_is_no_configuration_is_refused(void **state)
{
    (void)state;
    assert_refused("global\n nbthread 2\n", 0, 0, "nothing to listen on");
    assert_refused("# nothing\n", 0, 0, "nothing to listen on");
    assert_refused(DEFAULTS "backend b\n server a 127.0.0.1:81\n", 0, 0, "nothing to listen on");
    assert_refused("\xef\xbb\xbfglobal\n" LISTEN, 1, 1, "byte order mark");
    assert_refused("global\n nbthread 2 \x01\n" LISTEN, 2, 13, "control byte");
    assert_refused("global\n nbthread '2\n" LISTEN, 2, 11, "quote isn't closed");
    assert_refused("global\n nbthread \\\n" LISTEN, 2, 11, "can't be continued");
}

static void a_missing_line_feed_at_the_end_is_a_warning(void **state)
{
    (void)state;
    assert_warned(LISTEN " retries 5", 9, 11, "no line feed at the end of the file");
}

static void an_empty_text_says_so_and_is_refused(void **state)
{
    struct loaded l = load_text("");

    (void)state;
    assert_null(l.cfg);
    assert_non_null(strstr(l.said, "[WARNING]  config: f: the file is empty"));
    assert_non_null(strstr(l.said, "[ALERT]    config: f: nothing to listen on"));
    loaded_free(&l);
}

static void nul_bytes_are_refused_not_taken_for_an_end(void **state)
{
    static const char text[] = LISTEN " retries 5\0 6\n";
    struct loaded l = load_bytes(text, sizeof text - 1);

    (void)state;
    assert_null(l.cfg);
    assert_non_null(strstr(l.said, "f:9:11: a control byte"));
    loaded_free(&l);
}

static size_t count(const char *text, const char *word)
{
    size_t n = 0;

    for (; (text = strstr(text, word)); text++) {
        n++;
    }
    return n;
}

static void all_errors_are_told_at_once(void **state)
{
    struct loaded l =
        load_text("global\n nbthread 0\n foo\n" LISTEN
                  " maxconn x\n server b x weight y\n server a 127.0.0.1:82\n default_backend nowhere\n");

    (void)state;
    assert_null(l.cfg);
    assert_int_equal(count(l.said, "[ALERT]"), 7);
    loaded_free(&l);
}

static void errors_and_warnings_are_bounded(void **state)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    struct loaded l;

    (void)state;
    fputs(FRONTEND, f);
    for (int i = 0; i < 100; i++) {
        fputs(" retries 5\n", f);
    }
    for (int i = 0; i < 100; i++) {
        fputs(" foo\n", f);
    }
    fclose(f);
    l = load_text(text);
    assert_null(l.cfg);
    assert_int_equal(count(l.said, "[ALERT]"), 21);
    assert_int_equal(count(l.said, "[WARNING]"), 51);
    assert_non_null(strstr(l.said, "20 errors, giving up"));
    loaded_free(&l);
    free(text);
}

static void long_words_are_cut_in_messages(void **state)
{
    static char word[3001], text[4096];
    struct loaded l;

    (void)state;
    memset(word, 'x', sizeof word - 1);
    snprintf(text, sizeof text, LISTEN " retries %s\n", word);
    l = load_text(text);
    assert_null(l.cfg);
    assert_true(strlen(l.said) < 400);
    assert_non_null(strstr(l.said, "xxx...'"));
    loaded_free(&l);
}

static void sections_are_bounded(void **state)
{
    char *text = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);
    struct loaded l;

    (void)state;
    fputs(LISTEN, f);
    for (int i = 0; i < 20001; i++) {
        fputs("defaults\n", f);
    }
    fclose(f);
    l = load_text(text);
    assert_null(l.cfg);
    assert_non_null(strstr(l.said, "more than 20000 sections"));
    loaded_free(&l);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unknown_keywords_are_refused_with_what_may_stand_there_and_the_nearest_match),
        cmocka_unit_test(keywords_out_of_place_name_the_sections_they_may_stand_in),
        cmocka_unit_test(keywords_that_are_only_useless_in_their_section_are_warned_about),
        cmocka_unit_test(wrong_values_are_refused_at_their_word_with_what_was_expected),
        cmocka_unit_test(words_missing_empty_or_too_many_are_refused),
        cmocka_unit_test(addresses_are_refused_with_what_was_expected),
        cmocka_unit_test(server_parameters_are_refused_at_their_word),
        cmocka_unit_test(names_are_checked_and_must_differ),
        cmocka_unit_test(a_frontend_and_two_backends_of_one_name_give_one_error),
        cmocka_unit_test(from_must_name_one_defaults_section_above),
        cmocka_unit_test(a_default_backend_must_exist_and_be_another),
        cmocka_unit_test(a_proxy_without_mode_is_refused_since_tcp_is_the_languages_default),
        cmocka_unit_test(what_makes_a_proxy_useless_is_warned_about),
        cmocka_unit_test(sections_that_are_not_known_are_refused_once_and_their_lines_passed_over),
        cmocka_unit_test(what_is_no_configuration_is_refused),
        cmocka_unit_test(a_missing_line_feed_at_the_end_is_a_warning),
        cmocka_unit_test(an_empty_text_says_so_and_is_refused),
        cmocka_unit_test(nul_bytes_are_refused_not_taken_for_an_end),
        cmocka_unit_test(all_errors_are_told_at_once),
        cmocka_unit_test(errors_and_warnings_are_bounded),
        cmocka_unit_test(long_words_are_cut_in_messages),
        cmocka_unit_test(sections_are_bounded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
